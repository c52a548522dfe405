/**
 * Runs the built executables as a user would: a clean environment, the executables first on PATH,
 * a home of their own. What a test does not hand in does not reach them.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { atExit } from './cleanup.ts';
import { type CollectedOutput, collect } from './collect.ts';
import { temporaryFolder } from './temp.ts';

/** Milliseconds after which a program that has not ended is killed. */
const DEFAULT_TIMEOUT = 180_000;

/** What a program gets in addition to its arguments. */
export interface RunOptions {
  /** Becomes RUNNER_ROOT. Without it the variable is not set. */
  readonly root?: string;
  /** Added to the clean environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Without it, run() and shell() give an empty stdin. */
  readonly stdin?: string | Uint8Array;
  /** Default: an empty folder. */
  readonly cwd?: string;
  /** Milliseconds; the process group is killed then and the promise rejects. Default 180,000. */
  readonly timeout?: number;
  /** Further descriptors: the child's number -> ours. */
  readonly fds?: Readonly<Record<number, number>>;
}

/** How a program ended, and all it wrote. */
export interface Ended {
  /** Exit status, null after a signal. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The same as `stdout`, for output that is not text. */
  readonly stdoutBytes: Buffer;
  /** Wall-clock milliseconds from start to end. */
  readonly ms: number;
}

/** A program that goes on while the test does. */
export interface RunningCommand {
  readonly pid: number;
  readonly stdin: Writable;
  /** The lines of stdout as they come, without their newline; may be iterated more than once. */
  readonly stdout: AsyncIterable<string>;
  /** What has come on stderr so far. */
  readonly stderr: () => string;
  /** Signals the program and everything in its process group. Default SIGTERM. */
  readonly kill: (signal?: NodeJS.Signals) => void;
  readonly done: Promise<Ended>;
}

/** The folder that holds `bin/`: RUNNER_DIST, else the nearest `dist` going up from this file. */
export function distFolder(): string {
  const given = process.env.RUNNER_DIST;
  if (given !== undefined && given !== '') return given;
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'dist', 'bin'))) return join(folder, 'dist');
  }
  throw new Error('no dist/bin above this file: build first, or set RUNNER_DIST');
}

/** The folder of the checkout: the nearest with a workspace, going up from this file. */
export function checkoutFolder(): string {
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return folder;
  }
  throw new Error('no checkout above this file');
}

/** Absolute path of a built executable, such as `runner-add`. */
export function executable(tool: string): string {
  const path = join(distFolder(), 'bin', tool);
  if (!existsSync(path)) throw new Error(`${path} has not been built`);
  return path;
}

/** A word of a shell script, quoted where it must be: as the product prints it, too. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The words of a shell script that run a tool as the user 65534, in this group alone. */
export function asNobody(tool: string, gid = 65_534): string {
  const user = `setpriv --reuid=65534 --regid=${gid} --clear-groups`;
  return `${user} ${shellWord(process.execPath)} ${shellWord(executable(tool))}`;
}

/** The environment in which Node loads a file before the program. */
export function preloading(file: string): { NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--require=${JSON.stringify(file)}` };
}

let emptyFolder: string | undefined;
let homeFolder: string | undefined;

/** The environment that run(), start() and shell() give: this and nothing else. */
export function cleanEnvironment(options: RunOptions = {}): Record<string, string> {
  homeFolder ??= temporaryFolder('home');
  const path = [join(distFolder(), 'bin'), dirname(process.execPath), process.env.PATH ?? ''];
  const environment: Record<string, string> = {
    PATH: path.join(delimiter),
    HOME: homeFolder,
    LANG: 'C.UTF-8',
    TMPDIR: tmpdir(),
    // Builds of tests look at and write into folders of the test; tests/sandbox asks for the sandbox.
    RUNNER_SANDBOX: process.env.TESTS_SANDBOX ?? 'off',
    // The machine may have a bell of its own.
    RUNNER_BELL_DIR: join(homeFolder, 'bell'),
  };
  if (options.root !== undefined) environment.RUNNER_ROOT = options.root;
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (value === undefined) delete environment[name];
    else environment[name] = value;
  }
  return environment;
}

function stdio(fds: Readonly<Record<number, number>> = {}): StdioOptions {
  const highest = Math.max(2, ...Object.keys(fds).map(Number));
  return Array.from({ length: highest + 1 }, (_, fd) => fds[fd] ?? (fd <= 2 ? 'pipe' : 'ignore'));
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}

/** Resolves when the program has ended and no process holds its output any more. */
function ended(
  child: ChildProcess,
  name: string,
  limit: number,
  seen: CollectedOutput,
): Promise<Ended> {
  const started = performance.now();
  const pid = child.pid ?? 0;
  return new Promise((resolve, reject) => {
    const said = () => `\n--- stdout\n${seen.text('stdout')}\n--- stderr\n${seen.text('stderr')}`;
    const forget = atExit(() => killGroup(pid, 'SIGKILL'));
    const timer = setTimeout(() => {
      const why = child.exitCode === null ? 'has not ended' : 'has ended, but its output is held';
      killGroup(pid, 'SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
      reject(new Error(`${name} ${why} after ${limit} ms${said()}`));
    }, limit);
    child.on('error', (error) => {
      clearTimeout(timer);
      forget();
      reject(error);
    });
    child.on('close', (status, signal) => {
      clearTimeout(timer);
      forget();
      const ms = performance.now() - started;
      const stdoutBytes = seen.bytes('stdout');
      const [stdout, stderr] = [stdoutBytes.toString('utf8'), seen.text('stderr')];
      resolve({ status, signal, stdout, stderr, stdoutBytes, ms });
    });
  });
}

function launch(
  file: string,
  args: readonly string[],
  name: string,
  options: RunOptions,
): RunningCommand {
  emptyFolder ??= temporaryFolder('cwd');
  const child = spawn(file, args, {
    cwd: options.cwd ?? emptyFolder,
    env: cleanEnvironment(options),
    stdio: stdio(options.fds),
    // A group of its own, so that a time limit reaches whatever it started.
    detached: true,
  });
  const seen = collect(child);
  const done = ended(child, name, options.timeout ?? DEFAULT_TIMEOUT, seen);
  // A caller that never awaits the end must not crash the process with an unhandled rejection.
  done.catch(() => {});
  const stdin = child.stdin as Writable;
  // A program may end without having read its input.
  stdin.on('error', () => {});
  if (options.stdin !== undefined) stdin.end(options.stdin);
  return {
    pid: child.pid ?? 0,
    stdin,
    stdout: seen.lines,
    stderr: () => seen.text('stderr'),
    kill: (signal = 'SIGTERM') => killGroup(child.pid ?? 0, signal),
    done,
  };
}

/**
 * Starts `dist/bin/<tool>` and leaves it running; its stdin stays open unless `stdin` is given. It
 * is killed when this process ends.
 */
export function start(
  tool: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): RunningCommand {
  return launch(executable(tool), args, [tool, ...args].join(' '), options);
}

/**
 * Runs `dist/bin/<tool>` to its end. Any exit status resolves; it rejects when the program cannot
 * be started or the time is up, with what it had written in the message.
 */
export function run(
  tool: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Ended> {
  return start(tool, args, { stdin: '', ...options }).done;
}

/** Runs `sh -c script` as run() runs a tool, for pipelines: tools stand on its PATH. */
export function shell(script: string, options: RunOptions = {}): Promise<Ended> {
  return launch('/bin/sh', ['-c', script], script, { stdin: '', ...options }).done;
}
