/** Into a booted container: its init, and commands beside it. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** How a command inside ended. */
export interface ContainerResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Who runs a command inside, with what. */
export interface InsideOptions {
  /** Default: root. */
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Milliseconds; default 60,000. */
  readonly timeout?: number;
}

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
export function initOf(unshare: number): number | undefined {
  const way = ['sh', 'systemd-nspawn', 'systemd'];
  return way.reduce<number | undefined>(
    (parent, name) => (parent === undefined ? undefined : childrenOf(parent, name)[0]),
    unshare,
  );
}

/** Runs a shell script beside the init `pid`, with a clean environment. Any status resolves. */
export function enter(
  pid: number,
  script: string,
  { user, env = {}, stdin = '', timeout = 180_000 }: InsideOptions = {},
): Promise<ContainerResult> {
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
