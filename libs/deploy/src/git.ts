/**
 * git over HTTP with an app's token. The token reaches git through an askpass helper that reads an
 * inherited descriptor of a file without a name: it stands in no argument, environment, config or
 * file that remains, and the helper gives it to the expected host alone.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '@runner/common/failure';
import { makeFolder, writeFully } from '@runner/common/files';
import type { Io } from '@runner/common/io';
import type { Secret } from '@runner/common/secret';
import { openNameless } from './deploy-log.ts';
import { gitEnvironment } from './environment.ts';
import { gitFailure } from './git-failure.ts';

/** A repository on the code host, and its mirror here. */
export interface Source {
  readonly io: Io;
  readonly app: string;
  readonly repo: string;
  readonly branch: string;
  /** The code host's address for git, without a slash at its end. */
  readonly gitUrl: string;
  readonly token: Secret | undefined;
  /** Folder of the bare mirror. */
  readonly mirror: string;
  readonly signal: AbortSignal;
}

/** Listing refs is one exchange; git itself knows no time limit. In milliseconds. */
const LIST_TIMEOUT = 60_000;
/** A first fetch may be large; below 1 kB/s for a minute git gives up by itself. */
const FETCH_TIMEOUT = 1_800_000;
const LOCAL_TIMEOUT = 120_000;
const OUTPUT_MAX = 67_108_864;
const ERRORS_MAX = 65_536;

/** Options of every call: nothing of a user's or repository's configuration may run or answer. */
const SAFE = [
  ['credential.helper', ''],
  ['core.hooksPath', '/dev/null'],
  ['protocol.ext.allow', 'never'],
  ['protocol.file.allow', 'never'],
  ['http.followRedirects', 'initial'],
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
  ['transfer.credentialsInUrl', 'die'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['advice.detachedHead', 'false'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`]);

export interface GitResult {
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** Runs git to its end; `source` gives it the token of its app. */
export function git(
  io: Io,
  args: readonly string[],
  options: { source?: Source; cwd: string; timeout?: number; signal?: AbortSignal },
): Promise<GitResult> {
  const env = gitEnvironment(io.env);
  const fd = options.source ? credential(options.source, env) : undefined;
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...SAFE, ...args], {
      cwd: options.cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', fd ?? 'ignore'],
    });
    if (fd !== undefined) closeSync(fd);
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = '';
    let timedOut = false;
    const kill = () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, options.timeout ?? LOCAL_TIMEOUT);
    options.signal?.addEventListener('abort', kill, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= OUTPUT_MAX) chunks.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(-ERRORS_MAX);
    });
    const finish = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', kill);
    };
    child.once('error', () => {
      finish();
      reject(new Failure('git_failed', 'git cannot be started: is it installed?'));
    });
    child.once('close', (status) => {
      finish();
      if (options.signal?.aborted) reject(new Failure('interrupted', 'interrupted'));
      else resolve({ status, stdout: Buffer.concat(chunks), stderr, timedOut });
    });
  });
}

/** Puts the token where the askpass helper finds it; returns the descriptor that git gets as 3. */
function credential(source: Source, env: Record<string, string>): number | undefined {
  const helper = join(dirname(dirname(source.io.program)), 'lib', 'askpass');
  if (!existsSync(helper)) throw new Failure('git_failed', `the helper ${helper} is missing: install runner again`);
  env.GIT_ASKPASS = helper;
  if (!source.token) {
    env.GIT_ASKPASS = '/bin/false';
    return undefined;
  }
  const { protocol, host } = new URL(source.gitUrl);
  env.RUNNER_ASKPASS_ORIGIN = `${protocol}//${host}`;
  env.RUNNER_ASKPASS_USER_ORIGIN = `${protocol}//x-access-token@${host}`;
  env.RUNNER_ASKPASS_FD = '3';
  const folder = dirname(source.mirror);
  makeFolder(folder);
  const fd = openNameless(folder, 'credential');
  writeFully(fd, Buffer.from(`${source.token.reveal()}\n`));
  return fd;
}

/** The newest commit of a branch, and the tag that stands on it. */
export interface Head {
  readonly commit: string;
  readonly tag: string | undefined;
  /** The repository's address as the host knows it: with or without `.git`. */
  readonly url: string;
}

/** Asks the host for the head of the source's branch. Throws `branch_not_found`, `repo_not_found`, … */
export async function remoteHead(source: Source): Promise<Head> {
  makeFolder(dirname(source.mirror));
  const base = `${source.gitUrl}/${source.repo}`;
  const ask = (url: string) =>
    git(source.io, ['ls-remote', '--quiet', '--end-of-options', url, `refs/heads/${source.branch}`, 'refs/tags/*'], {
      source,
      cwd: dirname(source.mirror),
      timeout: LIST_TIMEOUT,
      signal: source.signal,
    });
  let url = `${base}.git`;
  let answer = await ask(url);
  if (answer.status !== 0 && gitFailure(source, answer).code === 'repo_not_found') {
    // Some hosts serve a repository only under its bare name.
    const second = await ask(base);
    if (second.status === 0) [url, answer] = [base, second];
  }
  if (answer.status !== 0) throw gitFailure(source, answer);
  const refs = answer.stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter((parts) => parts.length === 2) as [string, string][];
  const commit = refs.find(([, ref]) => ref === `refs/heads/${source.branch}`)?.[0];
  if (!commit || !/^[0-9a-f]{40,64}$/.test(commit)) {
    throw new Failure('branch_not_found', `the repository ${source.repo} has no branch '${source.branch}'`);
  }
  return { commit, tag: tagOn(commit, refs), url };
}

/** The tag on a commit, annotated or not; of several the one that sorts last by its numbers. */
function tagOn(commit: string, refs: readonly [string, string][]): string | undefined {
  const names = refs
    .filter(([sha, ref]) => sha === commit && ref.startsWith('refs/tags/'))
    .map(([, ref]) => ref.slice('refs/tags/'.length).replace(/\^\{\}$/, ''))
    // It becomes text in messages and tables.
    .filter((name) => /^[\w.+/@-]{1,100}$/.test(name));
  return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
}

/** `v1.2.3` when a tag stands on the commit, else its first 12 hex characters. */
export function versionOf(commit: string, tag: string | undefined): string {
  return tag ?? commit.slice(0, 12);
}

/** Fetches the branch into the mirror; returns the commit that it now points to. */
export async function fetchBranch(source: Source, url: string): Promise<string> {
  const { io, mirror, branch, signal } = source;
  if (!existsSync(join(mirror, 'HEAD'))) {
    makeFolder(mirror);
    const made = await git(io, ['init', '--quiet', '--bare', '--end-of-options', mirror], { cwd: mirror, signal });
    if (made.status !== 0) throw gitFailure(source, made);
  }
  const ref = `refs/heads/${branch}`;
  const options = ['--quiet', '--force', '--no-tags', '--depth=1', '--no-write-fetch-head', '--no-auto-maintenance'];
  const fetched = await git(io, ['fetch', ...options, '--end-of-options', url, `+${ref}:${ref}`], {
    source,
    cwd: mirror,
    timeout: FETCH_TIMEOUT,
    signal,
  });
  if (fetched.status !== 0) throw gitFailure(source, fetched);
  const parsed = await git(io, ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], { cwd: mirror, signal });
  if (parsed.status !== 0) throw gitFailure(source, parsed);
  return parsed.stdout.toString('latin1').trim();
}

/** A file of a commit; undefined when the commit has none there. Throws on a link or a folder. */
export async function fileAt(source: Source, commit: string, path: string): Promise<Buffer | undefined> {
  const { io, mirror, signal } = source;
  const listed = await git(io, ['ls-tree', '-z', commit, '--', path], { cwd: mirror, signal });
  if (listed.status !== 0) throw gitFailure(source, listed);
  const [mode] = listed.stdout.toString('utf8').split(' ');
  if (!mode) return undefined;
  if (!mode.startsWith('100')) throw new Failure('deploy_file_invalid', `${path} is not a regular file in this commit`);
  const shown = await git(io, ['cat-file', 'blob', `${commit}:${path}`], { cwd: mirror, signal });
  if (shown.status !== 0) throw gitFailure(source, shown);
  return shown.stdout;
}
