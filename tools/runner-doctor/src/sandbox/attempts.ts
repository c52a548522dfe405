/**
 * Attempts to escape from the sandbox: shell scripts that exit with 0 if they succeed, with 3 if there is
 * nothing to attack. They target a decoy: `$ROOT` with the apps `escape` (their own) and `other`, the user's
 * home `$OUTER_HOME`, and the process `$RUNNER`.
 */

export interface Attempt {
  readonly group: string;
  readonly name: string;
  readonly script: string;
  /** Allowed in the app's own hooks: that is their purpose, or docs/sandbox.md says why. */
  readonly isOpenToApp?: true;
}

type Row = readonly [name: string, script: string, isOpenToApp?: true];

const OWN = '"$ROOT"/apps/escape';
const OTHER = '"$ROOT"/apps/other';
const reads = (path: string) => `cat ${path} >/dev/null`;
const writes = (path: string) => `: >> ${path}`;
/** A Node script; `reached()` exits with 0. */
const node = (text: string) =>
  `"$NODE" -e 'const reached = () => process.exit(0); setTimeout(() => process.exit(1), 2000); ${text}'`;
const connects = (path: string) =>
  `test -S ${path} || exit 3; ${node(`require("net").connect(process.argv[1]).on("connect", reached).on("error", () => process.exit(1))`)} ${path}`;

const GROUPS: Readonly<Record<string, readonly Row[]>> = {
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
    ["switch another app's release", `ln -sfn /tmp ${OTHER}/instances/default/current`],
  ],
  planted: [
    ["git: the configuration of the app's own mirror", writes(`${OWN}/repo.git/config`)],
    ["git: another mirror's configuration", writes(`${OTHER}/repo.git/config`)],
    ['git: a repository above the apps', 'mkdir -p "$ROOT"/.git && : > "$ROOT"/.git/config'],
    [
      "git: the user's configuration",
      'grep -q real "$OUTER_HOME"/.gitconfig && : >> "$OUTER_HOME"/.gitconfig',
    ],
    [
      "npm: the user's configuration",
      'grep -q real "$OUTER_HOME"/.npmrc && : >> "$OUTER_HOME"/.npmrc',
    ],
    ["npm: another app's configuration", writes(`${OTHER}/home/.npmrc`)],
    [
      "shell: the user's .bashrc",
      'grep -q real "$OUTER_HOME"/.bashrc && : >> "$OUTER_HOME"/.bashrc',
    ],
    [
      "ssh: the user's authorized_keys",
      'grep -q real "$OUTER_HOME"/.ssh/authorized_keys && : >> "$OUTER_HOME"/.ssh/authorized_keys',
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
    ['a process that keeps running', `(setsid sh -c 'sleep 1; : > "$PROOF"' >/dev/null 2>&1 &)`],
    ['a file in /tmp', ': > /tmp/"$MARK"', true],
    ['shared memory', ': > /dev/shm/"$MARK"'],
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
    ['docker', connects('/run/docker.sock'), true],
    ['the system bus', connects('/run/dbus/system_bus_socket'), true],
    ["the user manager's bus", connects('/run/user/$(id -u)/bus'), true],
    ['service credentials', 'test -e /run/credentials || exit 3; ls /run/credentials/*'],
  ],
};

/** All attempts, in the order of the table. */
export const ATTEMPTS: readonly Attempt[] = Object.entries(GROUPS).flatMap(([group, rows]) =>
  rows.map(([name, script, open]) => ({ group, name, script, ...(open && { isOpenToApp: open }) })),
);
