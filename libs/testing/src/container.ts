/**
 * A booted Debian to install and break things in: this machine's files, or those of another system in
 * a folder, under systemd-nspawn, with a layer on top that takes every change and is forgotten. It has systemd, journal, D-Bus and users of
 * its own, and shares the network, so that stand-ins on loopback are reached from inside.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atExit } from './cleanup.ts';
import { type ContainerResult, enter, type InsideOptions, initOf } from './container-inside.ts';
import { temporaryFolder } from './temp.ts';

/** Milliseconds until a system counts as not booting. */
const BOOT_TIMEOUT = 180_000;
const POLL = 100;

/** Lays the layer over the files below `$2` and boots it; `$1` is the name of the machine. */
const PREPARE = `set -eu
machine=$1 base=$2; shift 2
mount --make-rprivate /
# Where systemd does not run, nothing registers machines, and /run may be a folder of the disk.
if [ ! -d /run/systemd/system ]; then
  mount -t tmpfs tmpfs /run
  set -- --register=no --keep-unit "$@"
fi
layer=$(mktemp -d /run/runner-container.XXXXXX)
mount -t tmpfs -o mode=0755 tmpfs "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
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
# With --keep-unit a restart is left to the process that started it, which sees status 133.
boot() {
  systemd-nspawn --quiet --boot --directory="$layer/root" \
    --machine="$machine" --link-journal=no --resolv-conf=off --timezone=off --console=pipe "$@"
}
while status=0; boot "$@" || status=$?; [ "$status" -eq 133 ]; do :; done
exit "$status"
`;

/** A booted system. */
export interface Container {
  /** Runs a shell script inside to its end, with a clean environment. Any status resolves. */
  sh(script: string, options?: InsideOptions): Promise<ContainerResult>;
  /** The same; rejects unless the status is 0, with all that was said. Resolves standard output. */
  ok(script: string, options?: InsideOptions): Promise<string>;
  /** Restarts the system and waits until it has booted. */
  reboot(): Promise<void>;
  /** The process of its init here: below its `root` are the files inside. */
  init(): number;
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

/**
 * Boots the system below `base`; `bind` are folders of this machine that it sees, read only, as
 * inside: outside.
 */
export async function bootContainer(
  bind: Readonly<Record<string, string>> = {},
  base = '/',
): Promise<Container> {
  const log = join(temporaryFolder('container'), 'console');
  const output = openSync(log, 'w');
  const binds = Object.entries(bind).map(([inside, here]) => `--bind-ro=${here}:${inside}`);
  // In a namespace whose first process dies with this one: killing nspawn alone leaves the rest.
  const namespaces = ['--mount', '--mount-proc', '--pid', '--fork', '--kill-child=KILL'];
  const inner = ['sh', '-c', PREPARE, 'sh', `runner-test-${process.pid}`, base, ...binds];
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
    init: () => init,
    console: words,
    async close() {
      nspawn.ref();
      end();
      await gone;
      forget();
    },
  };
}
