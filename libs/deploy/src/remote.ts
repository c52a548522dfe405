/** The branch of an app on the code host, and its mirror here. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '@runner/common/failure';
import { makeFolder } from '@runner/common/files';
import { git } from './git.ts';
import { gitFailure } from './git-failure.ts';
import type { Source } from './source.ts';

/** A first fetch may be large; below 1 kB/s for a minute git gives up by itself. */
const FETCH_TIMEOUT = 1_800_000;
/** Listing refs is one exchange; git itself knows no time limit. In milliseconds. */
const LIST_TIMEOUT = 60_000;
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
    git(
      source.io,
      [
        'ls-remote',
        '--quiet',
        '--end-of-options',
        url,
        `refs/heads/${source.branch}`,
        'refs/tags/*',
      ],
      {
        source,
        cwd: dirname(source.mirror),
        timeout: LIST_TIMEOUT,
        signal: source.signal,
      },
    );
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
    throw new Failure(
      'branch_not_found',
      `the repository ${source.repo} has no branch '${source.branch}'`,
    );
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
    const made = await git(io, ['init', '--quiet', '--bare', '--end-of-options', mirror], {
      cwd: mirror,
      signal,
    });
    if (made.status !== 0) throw gitFailure(source, made);
  }
  const ref = `refs/heads/${branch}`;
  const options = [
    '--quiet',
    '--force',
    '--no-tags',
    '--depth=1',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
  ];
  const fetched = await git(io, ['fetch', ...options, '--end-of-options', url, `+${ref}:${ref}`], {
    source,
    cwd: mirror,
    timeout: FETCH_TIMEOUT,
    signal,
  });
  if (fetched.status !== 0) throw gitFailure(source, fetched);
  const parsed = await git(io, ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], {
    cwd: mirror,
    signal,
  });
  if (parsed.status !== 0) throw gitFailure(source, parsed);
  return parsed.stdout.toString('latin1').trim();
}

/** A file of a commit; undefined when the commit has none there. Throws on a link or a folder. */
export async function fileAt(
  source: Source,
  commit: string,
  path: string,
): Promise<Buffer | undefined> {
  const { io, mirror, signal } = source;
  const listed = await git(io, ['ls-tree', '-z', commit, '--', path], { cwd: mirror, signal });
  if (listed.status !== 0) throw gitFailure(source, listed);
  const [mode] = listed.stdout.toString('utf8').split(' ');
  if (!mode) return undefined;
  if (!mode.startsWith('100'))
    throw new Failure('deploy_file_invalid', `${path} is not a regular file in this commit`);
  const shown = await git(io, ['cat-file', 'blob', `${commit}:${path}`], { cwd: mirror, signal });
  if (shown.status !== 0) throw gitFailure(source, shown);
  return shown.stdout;
}
