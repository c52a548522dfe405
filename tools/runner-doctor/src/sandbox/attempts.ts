/**
 * Attempts to escape from the sandbox: shell scripts that exit with 0 if they succeed, with 3 if there is
 * nothing to attack. They target a decoy: `$ROOT` with the apps `escape` (their own) and `other`, the user's
 * home `$OUTER_HOME`, and the process `$RUNNER`; and of the server what can be tried without changing it.
 */
import type { Profile } from '@runner/deploy/sandbox/mounts';

export interface EscapeAttempt {
  readonly group: string;
  readonly name: string;
  readonly script: string;
  /** It succeeded if this is there afterwards, a path with variables of the script. */
  readonly leaves?: string;
  /** A build that tries it has a list of hosts, and nothing on it. */
  readonly isGuarded?: boolean;
  /** Profiles in which it is allowed: that is their purpose, or docs/sandbox.md says why. */
  readonly openTo?: readonly Profile[];
}

type AttemptRow = readonly [
  name: string,
  script: string,
  more?: Pick<EscapeAttempt, 'leaves' | 'openTo' | 'isGuarded'>,
];

const OWN = '"$ROOT"/apps/escape';
const OTHER = '"$ROOT"/apps/other';
const reads = (path: string) => `cat ${path} >/dev/null`;
const writes = (path: string) => `: >> ${path}`;
/** A file of the user's, not one of the same name in an empty folder. */
const changes = (file: string) =>
  `grep -q real "$OUTER_HOME"/${file} && : >> "$OUTER_HOME"/${file}`;
/** A Node script; `reached()` exits with 0. */
const node = (text: string) =>
  `"$NODE" -e 'const reached = () => process.exit(0); setTimeout(() => process.exit(1), 2000); ${text}'`;
const connects = (path: string) =>
  `test -S ${path} || exit 3; ${node(`require("net").connect(process.argv[1]).on("connect", reached).on("error", () => process.exit(1))`)} ${path}`;
/** Of a build with a list of hosts; other commands have the network. */
const GUARDED = { isGuarded: true, openTo: ['hook', 'app'] } as const;
const dials = (to: string) =>
  node(`require("net").connect(${to}).on("connect", reached).on("error", () => process.exit(1))`);
/** Reaching the host of a virtual machine: a socket of a kind that no sandbox separates. */
const VSOCK = `import errno, socket, sys
made = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); made.settimeout(2)
sys.exit(0 if made.connect_ex((2, 1)) in (0, errno.ECONNRESET) else 3)`;
/** Attempts where there is something to attack. */
const where = (condition: string, script: string) => `${condition} || exit 3; ${script}`;
/** The first file of a pattern; its path is `$1`. */
const first = (pattern: string, script: string) => where(`set -- ${pattern}; test -e "$1"`, script);

const GROUPS: Readonly<Record<string, readonly AttemptRow[]>> = {
  keys: [
    ['read the master key', reads('"$ROOT"/mkey')],
    ['change the master key', writes('"$ROOT"/mkey')],
    ['make a hard link to the master key', 'ln "$ROOT"/mkey hard && test -s hard'],
    ['read config.yml', reads('"$ROOT"/config.yml')],
    ['change config.yml', writes('"$ROOT"/config.yml')],
  ],
  state: [
    ['list the registry', 'ls "$ROOT"/state/other.json'],
    ["read another app's token", reads('"$ROOT"/state/other.json')],
    ["change the app's own state", writes('"$ROOT"/state/escape.json')],
    ["change another app's state", writes('"$ROOT"/state/other.json')],
    ['read the audit log', reads('"$ROOT"/logs/deploy-events.jsonl')],
    ['forge the audit log', writes('"$ROOT"/logs/deploy-events.jsonl')],
    ["read another app's deploy log", reads('"$ROOT"/logs/deploys/other/1.log')],
    ['hold a lock', 'flock --nonblock "$ROOT"/locks/registry.lock true'],
    ['queue a message', writes('"$ROOT"/spool/notify/1.telegram.json')],
    ['read a queued message', reads('"$ROOT"/spool/notify/0.telegram.json')],
  ],
  'other apps': [
    ["read another app's mirror", reads(`${OTHER}/repo.git/config`)],
    ["read another app's release", reads(`${OTHER}/releases/r1/server.js`)],
    ["change another app's release", writes(`${OTHER}/releases/r1/server.js`)],
    ["read another app's shared files", reads(`${OTHER}/instances/default/shared/.env`)],
    ["read another app's HOME", reads(`${OTHER}/home/.npmrc`)],
    [
      'read the secrets of the bell',
      where('test -r /var/lib/runner-bell/secrets', 'ls /var/lib/runner-bell/secrets'),
    ],
    ['read the journal on the disk', first('/var/log/journal/*/system.journal', 'head -c 1 "$1"')],
    ['read the journal in memory', first('/run/log/journal/*/system.journal', 'head -c 1 "$1"')],
    ["switch another app's release", `ln -sfn /tmp ${OTHER}/instances/default/current`],
  ],
  planted: [
    ["git: the configuration of the app's own mirror", writes(`${OWN}/repo.git/config`)],
    ["git: another mirror's configuration", writes(`${OTHER}/repo.git/config`)],
    ['git: a repository above the apps', 'mkdir -p "$ROOT"/.git && : > "$ROOT"/.git/config'],
    ["git: the user's configuration", changes('.gitconfig')],
    ["npm: the user's configuration", reads('"$OUTER_HOME"/.npmrc')],
    ["npm: the operator's configuration of the app", writes(`${OWN}/home/.npmrc`)],
    [
      'npm: configuration for later builds',
      `: > ${OWN}/home/.yarnrc-"$MARK"`,
      { leaves: '$ROOT/apps/escape/home/.yarnrc-$MARK' },
    ],
    ["npm: another app's configuration", writes(`${OTHER}/home/.npmrc`)],
    ["shell: the user's .bashrc", changes('.bashrc')],
    ["ssh: the user's authorized_keys", changes('.ssh/authorized_keys')],
    [
      'a file in the home of the account',
      'test -n "$ACCOUNT_HOME" || exit 3; : > "$ACCOUNT_HOME"/."$MARK"',
      { leaves: '$ACCOUNT_HOME/.$MARK' },
    ],
    [
      'a job of cron',
      where('test -w /etc/cron.d', ': > /etc/cron.d/"$MARK"'),
      { leaves: '/etc/cron.d/$MARK' },
    ],
    [
      'the handler of core dumps',
      where('test -w /proc/sys/kernel/core_pattern', writes('/proc/sys/kernel/core_pattern')),
    ],
    [
      'the environment of a slot, which systemd reads as root',
      writes(`${OWN}/instances/default/a/env`),
    ],
    [
      'a link in its place',
      `cd ${OWN}/instances/default/a && mv env kept && ln -s /etc/passwd env; test -L env || exit 1; rm env; mv kept env`,
    ],
    [
      'the secrets in memory, which systemd reads as root',
      where('test -n "$MEMORY"', writes('"$MEMORY"/default.env')),
    ],
    ['a file in an earlier release', writes(`${OWN}/releases/r0/server.js`)],
    ['the link to the active release', `ln -sfn /tmp ${OWN}/instances/default/current`],
    ['the record of the running process', writes(`${OWN}/instances/default/run/pid.json`)],
    [
      "a link in the place of the app's own folder",
      `cd ${OWN}/instances/default && mv shared kept && ln -s "$ROOT" shared; test -L shared || exit 1; rm shared; mv kept shared`,
    ],
    [
      'the same for a release that is being built',
      `cd ${OWN}/releases && mv r0 kept && ln -s "$ROOT" r0; test -L r0 || exit 1; rm r0; mv kept r0`,
    ],
  ],
  process: [
    ["read the runner's environment", 'grep -qz CANARY= /proc/$RUNNER/environ'],
    [
      "read the runner's memory",
      `${node('require("fs").openSync(`/proc/${process.env.RUNNER}/mem`); reached()')}`,
    ],
    [
      "write the runner's memory",
      `${node('require("fs").openSync(`/proc/${process.env.RUNNER}/mem`, "r+"); reached()')}`,
    ],
    ["read the runner's open files", 'grep -q canary /proc/$RUNNER/fd/0'],
    ["enter the runner's root folder", 'ls /proc/$RUNNER/root/proc'],
    ["read the runner's command line", 'grep -qz CANARY /proc/$RUNNER/cmdline'],
    ['signal the runner', 'kill -CONT $RUNNER'],
    ["open the runner's inspector", 'kill -USR1 $RUNNER'],
    ["enter the runner's namespaces", 'readlink /proc/$RUNNER/ns/mnt'],
  ],
  leftovers: [
    [
      'a process that keeps running',
      `(setsid sh -c 'sleep 1; : > "$PROOF"' >/dev/null 2>&1 &)`,
      { openTo: ['app'], leaves: '$PROOF' },
    ],
    ['a file in /tmp', ': > /tmp/"$MARK"', { openTo: ['hook', 'app'], leaves: '/tmp/$MARK' }],
    ['shared memory', ': > /dev/shm/"$MARK"', { leaves: '/dev/shm/$MARK' }],
    [
      "a user's control group",
      where('test -w /sys/fs/cgroup"$(sed -n s/^0:://p /proc/self/cgroup)"/cgroup.procs', 'true'),
    ],
  ],
  'links and mounts': [
    ['a symbolic link to the master key', 'ln -s "$ROOT"/mkey soft && cat soft >/dev/null'],
    ['the master key through /proc/self/root', reads('/proc/self/root"$ROOT"/mkey')],
    ['the files under the mount', `(umount -l "$ROOT"; ${reads('"$ROOT"/mkey')}) 2>/dev/null`],
    [
      'the same in a new namespace',
      `unshare --user --map-root-user --mount sh -c 'umount -l "$ROOT"; cat "$ROOT"/mkey' >/dev/null`,
    ],
    [
      'a terminal of the user',
      'for each in /dev/pts/[0-9]*; do test -e "$each" && exit 0; done; exit 3',
    ],
  ],
  sockets: [
    ['docker', connects('/run/docker.sock')],
    ['the system bus', connects('/run/dbus/system_bus_socket')],
    [
      'logind over the bus, which starts a user manager',
      where(
        'test -S /run/dbus/system_bus_socket && command -v loginctl >/dev/null',
        'loginctl list-sessions >/dev/null',
      ),
    ],
    [
      'systemd',
      where(
        'test -S /run/systemd/private && command -v systemctl >/dev/null',
        'systemctl show --property=Version >/dev/null',
      ),
    ],
    [
      'a varlink service of systemd',
      `set -- /run/systemd/userdb/io.systemd.*; ${connects('"$1"')}`,
    ],
    ["the user manager's bus", connects('/run/user/$(id -u)/bus')],
    ["pm2's daemon", connects('"$OUTER_HOME"/.pm2/rpc.sock')],
    ['an ssh agent of the user', connects('"$AGENT"')],
    ['service credentials', 'test -e /run/credentials || exit 3; ls /run/credentials/*'],
  ],
  'network of a build with a list': [
    [
      'a datagram to the server',
      node(
        'require("dgram").createSocket("udp4").on("message", reached).send("x", +process.env.PORT_UDP, "127.0.0.1")',
      ),
      GUARDED,
    ],
    ['an address of the server', dials('+process.env.PORT, "127.0.0.1"'), GUARDED],
    [
      'an IPv6 address of the server',
      where('test -n "$PORT6"', dials('+process.env.PORT6, "::1"')),
      GUARDED,
    ],
    ['an abstract socket', dials('"\\0" + process.env.ABSTRACT'), GUARDED],
    ['a socket in /tmp by its path', connects('"$AGENT"'), { isGuarded: true }],
    [
      'the host of a virtual machine (AF_VSOCK)',
      where('command -v python3 >/dev/null', `python3 -c '${VSOCK}'`),
      { isGuarded: true, openTo: ['build', 'hook', 'app'] },
    ],
  ],
};

/** All attempts, in the order of the table. */
export const ATTEMPTS: readonly EscapeAttempt[] = Object.entries(GROUPS).flatMap(([group, rows]) =>
  rows.map(([name, script, more]) => ({ group, name, script, ...more })),
);
