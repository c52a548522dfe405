/** An `/etc`, a root and stand-ins for the programs of a server, and `runner-setup` run among them. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { pathsBelow, temporaryFolder } from '@runner/testing/temp';

/** Users, access lists and enabled units are lines of files beside the programs. */
const PROGRAM = `#!/bin/sh
state=\${0%/*}/../state
has() { grep -qxF -- "$2" "$state/$1" 2>/dev/null; }
add() { has "$1" "$2" || echo "$2" >>"$state/$1"; }
drop() { has "$1" "$2" || return 0; grep -vxF -- "$2" "$state/$1" >"$state/.new"; mv "$state/.new" "$state/$1"; }
for last in "$@"; do :; done
name=\${0##*/}
case $name in useradd | userdel | setfacl | systemctl | nginx | caddy | haproxy | certbot) echo "$name $*" >>"$state/log" ;; esac
[ "$(cat "$state/kill" 2>/dev/null)" != "$name" ] || kill -9 $PPID
case $name in
  useradd) add users "$last" ;;
  userdel) drop users "$last" ;;
  getent) has users "$2" && echo "$2:x:990:990::/nonexistent:/bin/false" || exit 2 ;;
  id) exit 1 ;;
  setfacl)
    [ -e "$last" ] || exit 1
    case " $* " in
      *" -m "*:rX*) who=\${3#u:} who=\${who%%:*}; add acl "$last user:$who:r-x"; add acl "$last default:user:$who:r-x" ;;
      *" -m "*) who=\${2#u:} who=\${who%%:*}; add acl "$last user:$who:--x" ;;
      *" -k "*) grep -v "^$last default:" "$state/acl" >"$state/.new"; mv "$state/.new" "$state/acl" ;;
      *" -x "*) for each in "$@"; do case $each in
          u:*) grep -v "^$last user:\${each#u:}:" "$state/acl" >"$state/.new"; mv "$state/.new" "$state/acl" ;;
          d:u:*) grep -v "^$last default:user:\${each#d:u:}:" "$state/acl" >"$state/.new"; mv "$state/.new" "$state/acl" ;;
        esac; done ;;
    esac ;;
  getfacl) [ -e "$last" ] || exit 1; echo 'user::rwx'; sed -n "s|^$last ||p" "$state/acl" 2>/dev/null ;;
  systemctl)
    case " $* " in
      *' is-enabled '*) has enabled "$last" && echo enabled || echo disabled ;;
      *' enable '*) add enabled "$last" ;;
      *' disable '*) drop enabled "$last" ;;
      *' is-active '*) [ ! -e "$state/stuck" ] || echo reloading ;;
      *' reload-or-restart '*) [ ! -e "$state/stuck" ] || exec sleep 300; [ ! -e "$state/no-reload" ] ;;
      *) [ ! -e "$state/no-reload" ] ;;
    esac ;;
  *) [ ! -e "$state/bad-$name" ] || { echo "$name: line 3 is wrong" >&2; exit 1; } ;;
esac
exit $?
`;
const PROGRAMS = ['useradd', 'userdel', 'getent', 'id', 'setfacl', 'getfacl', 'systemctl'];

export const DEPLOY_FILE = `instances: { default: { domain: shop.example.org } }
start: { type: systemd, unit: shop@.service }
health: { url: "http://unix/health" }
traffic: socket
`;
export const PLAIN_FILE = `instances: { default: { env: { PORT: "3000" } } }
start: { type: systemd, unit: shop.service }
`;

export interface Stand {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** `runner-setup shop --deploy-file … ARGS`. */
  setup(...args: string[]): Promise<Ended>;
  /** The same as a command of the tests of kills. */
  command(...args: string[]): { tool: string; args: string[]; env: Record<string, string> };
  path(name: string): string;
  read(name: string): string;
  write(name: string, text: string): void;
  /** Every path of `/etc`, the root and the stand-ins' state, with its contents. */
  tree(): string;
}

/** `proxies` are those that are installed. */
export function makeStand(deployFile = DEPLOY_FILE, proxies = ['nginx']): Stand {
  const folder = temporaryFolder('setup');
  for (const each of [
    'etc/nginx/conf.d',
    'etc/systemd/system',
    'etc/runner',
    'root',
    'bin',
    'state',
  ])
    mkdirSync(join(folder, each), { recursive: true, mode: 0o755 });
  chmodSync(join(folder, 'root'), 0o750);
  writeFileSync(join(folder, 'etc/runner/units'), '# Units.\nblog.service\n');
  writeFileSync(join(folder, '.deploy.yml'), deployFile);
  // Another proxy may run on this machine.
  writeFileSync(join(folder, 'root/config.yml'), 'proxy_user: www-data\n', { mode: 0o600 });
  for (const name of ['acl', 'users', 'enabled', 'log'])
    writeFileSync(join(folder, 'state', name), '');
  writeFileSync(join(folder, 'state/users'), 'www-data\n');
  writeFileSync(join(folder, 'bin/.program'), PROGRAM, { mode: 0o755 });
  for (const name of [...PROGRAMS, ...proxies]) symlinkSync('.program', join(folder, 'bin', name));
  // Those of this machine are not found.
  for (const name of [
    'sh',
    'grep',
    'sed',
    'mv',
    'cat',
    'diff',
    'mkdir',
    'rmdir',
    'flock',
    'sleep',
    'node',
  ])
    symlinkSync(name === 'node' ? process.execPath : real(name), join(folder, 'bin', name));
  const env = { RUNNER_ETC: join(folder, 'etc'), PATH: join(folder, 'bin') };
  const root = join(folder, 'root');
  const all = (args: string[]) => [
    'shop',
    ...(args.includes('--undo') ? [] : ['--deploy-file', join(folder, '.deploy.yml')]),
    ...args,
  ];
  const path = (name: string) => join(folder, name);
  return {
    folder,
    env: { ...env, RUNNER_ROOT: root },
    setup: (...args) => run('runner-setup', all(args), { root, env }),
    command: (...args) => ({ tool: 'runner-setup', args: all(args), env }),
    path,
    read: (name) => readFileSync(path(name), 'utf8'),
    write: (name, text) => writeFileSync(path(name), text),
    tree: () => treeOf(folder),
  };
}

const real = (name: string) => `/usr/bin/${name}`;

function treeOf(folder: string): string {
  return ['etc', 'root', 'state']
    .flatMap((top) => pathsBelow(join(folder, top)).map((each) => `${top}/${each}`))
    .filter((each) => !/^state\/log$|runner\/setup(?:\/\.lock)?$/.test(each))
    .map((each) => {
      const at = join(folder, each);
      const stat = lstatSync(at);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) return `${each} -> ${readlinkSync(at)}`;
      // The stand-ins replace their files.
      const kept = each.startsWith('state/') ? '' : mode;
      return `${each} ${kept} ${stat.isFile() ? readFileSync(at, 'utf8') : ''}`;
    })
    .join('\n');
}
