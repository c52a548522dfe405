/**
 * git over HTTP with an app's token. The token reaches git through an askpass helper that reads an
 * inherited descriptor of a nameless file: it is never in an argument, the environment, a config or a
 * file that remains, and the helper gives it to the expected host only.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '@runner/common/files/read';
import { writeFully } from '@runner/common/files/write';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Secret } from '@runner/common/secrets/secret';
import { endGroup } from '../run/child.ts';
import { gitEnvironment } from '../run/environment.ts';
import { openNameless } from '../run/output.ts';
import { gitFailure } from './failure.ts';
import { NO_REPOSITORY, onMirror } from './repository.ts';
import type { GitResult, GitSource } from './source.ts';

const LOCAL_TIMEOUT = 120_000;
const OUTPUT_MAX = 67_108_864;
const TOO_LONG = 'fatal: it answers with more than 64 MiB';
const ERRORS_MAX = 65_536;
/** Between SIGTERM and SIGKILL, in milliseconds. */
const GRACE = 3_000;
/** Exit status of a shell that cannot find git. */
const NOT_FOUND = 127;

/** Options of every call: no configuration of a user or repository may take effect. */
const SAFE = [
  ['credential.helper', ''],
  ['core.hooksPath', '/dev/null'],
  ['protocol.ext.allow', 'never'],
  ['protocol.file.allow', 'never'],
  ['http.followRedirects', 'initial'],
  ['http.sslVerify', 'true'],
  // A host may be silent for minutes while it packs a large repository.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '300'],
  ['transfer.credentialsInUrl', 'die'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['advice.detachedHead', 'false'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`]);

/** Names the folder in git's environment, so that a git that outlives its runner is found. */
export const MARKER = 'RUNNER_GIT_FOLDER';

/** How git is run. */
interface GitOptions {
  /** Gives git the token of the app. */
  source?: GitSource;
  /** The mirror, unless it is `outside` of one. */
  cwd: string;
  /** The call needs no repository. */
  outside?: boolean;
  timeout?: number;
  signal?: AbortSignal;
  /** Another mirror, whose objects are read too. */
  lender?: string;
  /** Its standard input. */
  input?: string | Uint8Array;
  /** Traces git's protocol to stderr; headers are not traced. */
  packets?: boolean;
  /** Memory limit in MiB: git reads whatever a host sends. Default: no limit. */
  memory?: number;
}

/** Runs git to its end. Throws `git_failed` if it is not installed, and `interrupted`. */
export async function git(io: Io, args: readonly string[], options: GitOptions) {
  const child = await startGit(io, args, options);
  child.stdin?.end(options.input);
  const result = await resultOf(child, options);
  if (result.status === NOT_FOUND) throw notInstalled();
  if (options.signal?.aborted) throw new Failure('interrupted', 'interrupted');
  return result;
}

/** Runs git in the mirror of a source. */
export function gitIn(
  { io, mirror, signal }: GitSource,
  args: readonly string[],
  more: Partial<GitOptions> = {},
): Promise<GitResult> {
  return git(io, args, { cwd: mirror, signal, ...more });
}

/** The same, for what it prints. Throws what its messages mean if it fails. */
export async function gitOutput(
  source: GitSource,
  args: readonly string[],
  more: Partial<GitOptions> = {},
): Promise<Buffer> {
  const result = await gitIn(source, args, more);
  if (result.status !== 0) throw gitFailure(source, result);
  return result.stdout;
}

/** Starts git; with an `input`, the caller writes it. */
export async function startGit(io: Io, args: readonly string[], options: GitOptions) {
  const token = options.source?.token ?? (await options.source?.mint?.());
  const { env: askpass, fd } = options.source ? askpassFor(options.source, token) : {};
  const env: Record<string, string> = {
    ...gitEnvironment(io.env),
    ...(options.outside ? NO_REPOSITORY : onMirror(options.cwd)),
    [MARKER]: options.cwd,
    ...askpass,
  };
  if (options.lender !== undefined)
    env.GIT_ALTERNATE_OBJECT_DIRECTORIES = join(options.lender, 'objects');
  if (options.packets) env.GIT_TRACE_PACKET = '2';
  // Only this machine is reached unencrypted: no proxy is involved.
  if (options.source?.gitUrl.startsWith('http:')) env.no_proxy = '*';
  const [file, ...words] = within(options.memory, ['git', ...SAFE, ...args]);
  const child = spawn(file, words, {
    cwd: options.cwd,
    env,
    detached: true,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', fd ?? 'ignore'],
  });
  if (fd !== undefined) closeSync(fd);
  // git may end before it has read everything.
  child.stdin?.on('error', () => {});
  return child;
}

function resultOf(child: ChildProcess, { timeout, signal }: GitOptions): Promise<GitResult> {
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = '';
  let timedOut = false;
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= OUTPUT_MAX) chunks.push(chunk);
    else kill();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-ERRORS_MAX);
  });
  let killer: NodeJS.Timeout | undefined;
  // SIGTERM first: git then removes its lock files.
  const kill = () => {
    endGroup(child.pid, 'SIGTERM');
    killer ??= setTimeout(() => endGroup(child.pid, 'SIGKILL'), GRACE);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeout ?? LOCAL_TIMEOUT);
  signal?.addEventListener('abort', kill, { once: true });
  if (signal?.aborted) kill();
  return new Promise<GitResult>((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error)));
    child.once('close', (status) => {
      const answer = { stdout: Buffer.concat(chunks), timedOut };
      // Half an answer would be taken for all of it, such as a list of files without its submodules.
      if (size > OUTPUT_MAX) resolve({ ...answer, status: null, stderr: TOO_LONG });
      else resolve({ ...answer, status, stderr });
    });
  }).finally(() => {
    clearTimeout(timer);
    clearTimeout(killer);
    signal?.removeEventListener('abort', kill);
  });
}

const notInstalled = () => new Failure('git_failed', 'git cannot be started: is it installed?');

function notStarted(error: Error) {
  const missing = systemCode(error) === 'ENOENT';
  return missing ? notInstalled() : systemFailure(error, 'start git', 'git_failed');
}

/** A command line that limits the program's memory, if the shell can. */
function within(memory: number | undefined, line: readonly [string, ...string[]]) {
  if (memory === undefined) return line;
  const script = 'ulimit -v "$0" 2>/dev/null; exec "$@"';
  return ['/bin/sh', '-c', script, String(memory * 1024), ...line];
}

/** The variables of the askpass helper, and the descriptor with the token, which git inherits as 3. */
function askpassFor(source: GitSource, token: Secret | undefined) {
  const helper = join(dirname(dirname(source.io.program)), 'lib', 'askpass');
  if (!existsSync(helper))
    throw new Failure('git_failed', `the helper ${helper} is missing: install runner again`);
  if (!token) return { env: { GIT_ASKPASS: '/bin/false' } };
  const { protocol, host } = new URL(source.gitUrl);
  const env = {
    GIT_ASKPASS: helper,
    RUNNER_ASKPASS_ORIGIN: `${protocol}//${host}`,
    RUNNER_ASKPASS_USER: source.gitUser,
    RUNNER_ASKPASS_USER_ORIGIN: `${protocol}//${source.gitUser}@${host}`,
    RUNNER_ASKPASS_ENCODED_ORIGIN: `${protocol}//${percentEncoded(source.gitUser)}@${host}`,
    RUNNER_ASKPASS_FD: '3',
  };
  const folder = dirname(source.mirror);
  makeFolder(folder);
  const fd = openNameless(folder, 'credential');
  try {
    writeFully(fd, Buffer.from(`${token.reveal()}\n`));
  } catch (error) {
    closeSync(fd);
    throw systemFailure(error, `write to ${folder}`);
  }
  return { env, fd };
}

/** As newer versions of git write a user name in their prompt. */
function percentEncoded(user: string): string {
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return user.replace(/[^\w.~-]/g, hex);
}
