/** What of the server the commands of an app do not see, and what of that they need. */
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { orElse } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';

/**
 * Folders whose sockets start programs outside of the sandbox, or whose files show other apps' secrets: the
 * buses, systemd, the docker socket and the user's runtime folder below /run; the journal; the user's mail;
 * the bell; container managers whose group is root's equal.
 */
const SERVER = [
  '/run',
  '/var/log',
  '/var/mail',
  '/var/lib/runner-bell',
  '/var/lib/lxd',
  '/var/lib/incus',
  '/var/snap/lxd/common/lxd',
];

/** Databases that listen on a socket below /run. */
const DATABASES = ['postgresql', 'mysqld', 'mariadb', 'redis', 'valkey', 'memcached'];

/** In /tmp, folders with the sockets of a user's own terminals, agents and displays. */
const AGENTS = /^(?:tmux-|ssh-|screen|vscode-|\.X11-unix$|\.ICE-unix$)/;

/** Whether `path` is `folder`, or in it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** The real path of a folder other than `/`; undefined if it is not a folder. */
export function realFolder(path: string | undefined): string | undefined {
  if (path === undefined || !isAbsolute(path)) return undefined;
  try {
    const real = realpathSync(path);
    return real !== '/' && statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** The real paths of those folders that are there. */
export function realFolders(paths: readonly (string | undefined)[]): string[] {
  return [...new Set(paths.flatMap((path) => realFolder(path) ?? []))];
}

/** Folders that every command finds empty. A HOME such as /usr, which has the shell, stays. */
export function hiddenFolders(env: Env): string[] {
  const shell = orElse(() => realpathSync('/bin/sh'), '/bin/sh');
  const all = [...SERVER, env.CREDENTIALS_DIRECTORY, env.HOME, accountHome()];
  return realFolders(all).filter((folder) => !isWithin(folder, shell));
}

/** The home that the system knows for this user, which need not be `$HOME`; undefined unless it is the user's. */
export function accountHome(): string | undefined {
  // Some accounts of the system have a folder such as /usr/sbin.
  const own = () => {
    const { homedir, uid } = userInfo();
    return statSync(homedir).uid === uid ? homedir : undefined;
  };
  return orElse(own, undefined);
}

/** In the folder of a toolchain that is itself in the home, what its programs may need beside `bin`. */
const OF_PROGRAMS = [
  ...['bin', 'sbin', 'shims', 'lib', 'lib64', 'libexec', 'include', 'pkg', 'src', 'plugins'],
  ...['versions', 'version', 'toolchains', 'installs', 'tools', 'conf', 'jmods'],
  ...['pyvenv.cfg', 'go.env', 'VERSION'],
];

/**
 * What PATH, and this program, lead to below folders that are hidden, such as ~/.nvm/versions/node/v20: of a
 * folder with further contents, such as ~/.cargo and ~/.local, only what programs need.
 */
export function programsBelow(hidden: readonly string[], { PATH = '' }: Env): string[] {
  const entries = [...PATH.split(delimiter), dirname(process.execPath)];
  const own = realFolders(entries);
  const folders = new Set<string | undefined>(own);
  const found = new Set<string>();
  // What is added to a set while it is walked through is walked through, too.
  for (const path of folders) {
    const above = hidden
      .filter((each) => path !== undefined && isWithin(each, path))
      .sort()
      .at(-1);
    // What is above a hidden folder would show it.
    if (path === undefined || above === undefined || hidden.some((each) => isWithin(path, each)))
      continue;
    for (const folder of linkedFolders(path)) folders.add(folder);
    for (const each of shownOf(path, above, own.includes(path))) found.add(each);
  }
  return [...found];
}

/** A folder that only a link leads to may be in a project, with its secrets beside it. */
function shownOf(path: string, above: string, isOnPath: boolean): string[] {
  const [prefix, name] = [dirname(path), basename(path)];
  if (name === '.bin') return [prefix];
  if (!['bin', 'sbin', 'shims'].includes(name) || prefix === above) return [path];
  if (isOnPath && dirname(prefix) !== above) return [prefix];
  return OF_PROGRAMS.map((each) => join(prefix, each));
}

/** Where the links in a folder of programs lead, as those of uv, pipx and corepack in ~/.local/bin do. */
function linkedFolders(folder: string): (string | undefined)[] {
  const entries = orElse(() => readdirSync(folder, { withFileTypes: true }), []);
  return entries
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => {
      const real = orElse(() => realpathSync(join(folder, name)), '');
      const modules = /^.*?\/node_modules(?=\/)/.exec(real)?.[0];
      if (modules !== undefined) return realFolder(join(modules, '.bin'));
      return basename(dirname(real)) === 'bin' ? realFolder(dirname(real)) : undefined;
    });
}

/** Where the addresses of name servers are, when they are below /run. */
export function resolverFolder(): string[] {
  const folder = orElse(() => dirname(realpathSync('/etc/resolv.conf')), '/');
  return isWithin('/run', folder) && folder !== '/run' ? [folder] : [];
}

/** The folders of databases that listen on a socket. */
export function databaseFolders(): string[] {
  return realFolders(DATABASES.map((name) => join('/run', name)));
}

/** Folders below /var/log that belong to this user; root has none of its own. */
export function ownLogFolders(): string[] {
  const user = process.geteuid?.();
  return user === 0 ? [] : foldersIn('/var/log').filter((path) => lstatSync(path).uid === user);
}

/** In /tmp, the folders of this user's terminals and agents. */
export function agentFolders(): string[] {
  const isAgent = (path: string) => AGENTS.test(path.slice('/tmp/'.length));
  return foldersIn('/tmp').filter(isAgent);
}

function foldersIn(parent: string): string[] {
  const all = orElse(() => readdirSync(parent, { withFileTypes: true }), []);
  return all.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name));
}

/** The package makes it, for the user `runner`. */
const SYSTEM = '/run/runner';

/** The folders of all roots: `/run/runner`, else one below the user's runtime folder. */
export function memoryFolders({ XDG_RUNTIME_DIR: own }: Env): string[] {
  return [SYSTEM, ...(own ? [join(own, 'runner')] : [])];
}

/** The same for one root; each app has a folder in it. */
export function memoryFoldersOf(root: string, env: Env): string[] {
  const { hash } = process.getBuiltinModule('node:crypto');
  const name = hash('sha256', root, 'hex').slice(0, 8);
  return memoryFolders(env).map((folder) => join(folder, name));
}

/**
 * Supervisors belong to the user, not to an app: their clients look below the user's home, even though
 * an app has a HOME of its own.
 */
export function supervisorFolders({ HOME }: Env): Record<'PM2_HOME' | 'DOCKER_CONFIG', string> {
  // Containers run as users that the system does not know.
  const home = HOME || orElse(() => userInfo().homedir, '/');
  return { PM2_HOME: join(home, '.pm2'), DOCKER_CONFIG: join(home, '.docker') };
}

/** What the client of a supervisor needs: pm2's folder; the docker engine's socket and its configuration. */
export function supervisorPaths(supervisor: 'pm2' | 'docker', env: Env): string[] {
  const usual = supervisorFolders(env);
  if (supervisor === 'pm2') return [env.PM2_HOME ?? usual.PM2_HOME];
  const { DOCKER_CONFIG = usual.DOCKER_CONFIG, DOCKER_HOST = '', XDG_RUNTIME_DIR: own } = env;
  const named = /^unix:\/\/(\/.+)$/.exec(DOCKER_HOST)?.[1];
  const sockets = ['/run/docker.sock', own && join(own, 'docker.sock'), named];
  return [...sockets, DOCKER_CONFIG].filter(
    (path) => path !== undefined && path !== '',
  ) as string[];
}
