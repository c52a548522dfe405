/**
 * A booted Debian to install and break things in: this machine's files under systemd-nspawn, with a
 * layer on top that takes every change and is forgotten. It has systemd, journal, D-Bus and users of
 * its own, and shares the network, so that stand-ins on loopback are reached from inside.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from './cleanup.ts';
import { temporaryFolder } from './temp.ts';

/** Milliseconds until a system counts as not booting. */
const BOOT_TIMEOUT = 60_000;
const POLL = 100;

/** Lays the layer over this machine's files and boots it; `$1` is the name of the machine. */
const PREPARE = `set -eu
machine=$1; shift
mount --make-rprivate /
# Where systemd does not run, nothing registers machines, and /run may be a folder of the disk.
if [ ! -d /run/systemd/system ]; then
  mount -t tmpfs tmpfs /run
  set -- --register=no --keep-unit "$@"
fi
layer=$(mktemp -d /run/runner-container.XXXXXX)
mount -t tmpfs -o mode=0755 tmpfs "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
cd "$layer/root"
# The services of this machine do not belong to the story.
rm -rf etc/systemd/system/*.wants etc/systemd/system/*.requires etc/rc[0-6S].d opt/runner
mkdir -p etc/systemd/system
rm -f etc/fstab
for unit in tmp.mount systemd-firstboot.service getty.target console-getty.service; do
  ln -sf /dev/null "etc/systemd/system/$unit"
done
ln -sf /lib/systemd/system/multi-user.target etc/systemd/system/default.target
cd /
# With --keep-unit a restart is left to whoever started it, and asked for by status 133.
boot() {
  systemd-nspawn --quiet --boot --directory="$layer/root" \
    --machine="$machine" --link-journal=no --resolv-conf=off --timezone=off --console=pipe "$@"
}
while status=0; boot "$@" || status=$?; [ "$status" -eq 133 ]; do :; done
exit "$status"
`;

/** How a command inside ended. */
export interface Inside {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InsideOptions {
  /** Default: root. */
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Milliseconds; default 60,000. */
  readonly timeout?: number;
}

export interface Container {
  /** Runs a shell script inside to its end, with a clean environment. Any status resolves. */
  sh(script: string, options?: InsideOptions): Promise<Inside>;
  /** The same; rejects unless the status is 0, with all that was said. Resolves standard output. */
  ok(script: string, options?: InsideOptions): Promise<string>;
  /** Restarts the system and waits until it has booted. */
  reboot(): Promise<void>;
  /** Everything that the console has shown. */
  console(): string;
  close(): Promise<void>;
}

function missingProgram(): string | undefined {
  const programs = ['systemd-nspawn', 'unshare', 'nsenter', 'setpriv'];
  return programs.find((name) => spawnSync(name, ['--version']).error !== undefined);
}

/** Why no system can be booted here, in words for a skipped test; undefined when it can be tried. */
export function whyNoContainer(): string | undefined {
  if (process.platform !== 'linux') return 'systemd-nspawn is for Linux';
  if (process.getuid?.() !== 0) return 'systemd-nspawn needs root';
  const missing = missingProgram();
  if (missing !== undefined) return `${missing} is missing (Debian package systemd-container)`;
  if (!existsSync('/lib/systemd/systemd')) return 'systemd is not installed';
  const allowed = spawnSync('unshare', [
    '--mount',
    'sh',
    '-c',
    'set -e; mount -t tmpfs t /mnt; mkdir /mnt/u /mnt/w /mnt/r; mount -t overlay o -o lowerdir=/etc,upperdir=/mnt/u,workdir=/mnt/w /mnt/r',
  ]);
  if (allowed.status !== 0) {
    return `overlays cannot be mounted here: ${allowed.stderr.toString().trim()}`;
  }
  return undefined;
}

const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** The processes that `parent` has started and that are called `name`. */
function childrenOf(parent: number, name: string): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      const [state, of] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const comm = readFileSync(`/proc/${entry}/comm`, 'latin1').trim();
      return Number(of) === parent && state !== 'Z' && comm === name ? [Number(entry)] : [];
    } catch {
      return []; // Gone meanwhile.
    }
  });
}

/** The init of the container that `unshare` has started; undefined until there is one. */
function initOf(unshare: number): number | undefined {
  const way = ['sh', 'systemd-nspawn', 'systemd'];
  return way.reduce<number | undefined>(
    (parent, name) => (parent === undefined ? undefined : childrenOf(parent, name)[0]),
    unshare,
  );
}

/** Runs a script beside the init `pid`. */
function enter(
  pid: number,
  script: string,
  { user, env = {}, stdin = '', timeout = 60_000 }: InsideOptions = {},
): Promise<Inside> {
  const variables = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
    HOME: user === undefined ? '/root' : '/nonexistent',
    ...env,
  };
  const shell = ['/bin/sh', '-c', `cd /; ${script}`];
  const asUser = `exec setpriv --reuid="$0" --regid="$(id -g "$0")" --init-groups "$@"`;
  const command = user === undefined ? shell : ['/bin/sh', '-c', asUser, user, ...shell];
  const args = [
    `--target=${pid}`,
    ...['--mount', '--uts', '--ipc', '--pid', '--cgroup'],
    '--',
    ...['env', '-i', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)],
    ...command,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn('nsenter', args, { stdio: 'pipe', detached: true });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
    });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    const timer = setTimeout(() => {
      process.kill(-(child.pid as number), 'SIGKILL');
      reject(new Error(`inside: no end after ${timeout} ms: ${script}\n${stdout}\n${stderr}`));
    }, timeout);
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ status, stdout, stderr });
    });
  });
}

/** Waits for an init other than `before` that says it has booted. */
async function booted(
  nspawn: ChildProcess,
  words: () => string,
  before: number | undefined,
): Promise<number> {
  const until = performance.now() + BOOT_TIMEOUT;
  while (nspawn.exitCode === null && performance.now() < until) {
    const pid = initOf(nspawn.pid as number);
    if (pid !== undefined && pid !== before) {
      const { stdout } = await enter(pid, 'systemctl is-system-running --wait');
      if (/^(running|degraded)$/m.test(stdout)) return pid;
    }
    await sleep(POLL);
  }
  throw new Error(`the system did not boot :\n${words()}`);
}

/** Boots a system; `bind` are folders of this machine that it sees, read only, as inside: outside. */
export async function bootContainer(
  bind: Readonly<Record<string, string>> = {},
): Promise<Container> {
  const log = join(temporaryFolder('container'), 'console');
  const output = openSync(log, 'w');
  const binds = Object.entries(bind).map(([inside, here]) => `--bind-ro=${here}:${inside}`);
  // In a namespace whose first process dies with this one: killing nspawn alone leaves the rest.
  const namespaces = ['--mount', '--mount-proc', '--pid', '--fork', '--kill-child=KILL'];
  const inner = ['sh', '-c', PREPARE, 'sh', `runner-test-${process.pid}`, ...binds];
  const nspawn = spawn('setpriv', ['--pdeathsig=KILL', 'unshare', ...namespaces, ...inner], {
    stdio: ['ignore', output, output],
    detached: true,
  });
  nspawn.unref();
  closeSync(output);
  const end = () => {
    if (nspawn.exitCode === null && nspawn.signalCode === null) nspawn.kill('SIGKILL');
  };
  const forget = atExit(end);
  const words = () => readFileSync(log, 'utf8');
  const gone = new Promise<void>((resolve) => nspawn.once('exit', () => resolve()));
  let init = await booted(nspawn, words, undefined);
  const sh = (script: string, options?: InsideOptions) => enter(init, script, options);
  return {
    sh,
    async ok(script, options) {
      const { status, stdout, stderr } = await sh(script, options);
      if (status === 0) return stdout;
      throw new Error(`inside: status ${status}: ${script}\n${stdout}\n${stderr}`);
    },
    async reboot() {
      await sh('systemctl reboot');
      init = await booted(nspawn, words, init);
    },
    console: words,
    async close() {
      nspawn.ref();
      end();
      await gone;
      forget();
    },
  };
}
