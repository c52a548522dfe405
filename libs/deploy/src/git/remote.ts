/** Talking to the code host: listing refs, and fetching into the mirror. */
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { followedWords } from '@runner/common/apps/following';
import { makeFolder } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { gitFailure, notGit, sha256Words } from './failure.ts';
import { git, gitIn } from './git.ts';
import { removeStaleLocks } from './mirror-upkeep.ts';
import type { GitResult, GitSource } from './source.ts';
import { highest, isShowable, orderOf, type Ref, tagsOf } from './tags.ts';

/** A first fetch may be large; below 1 kB/s for five minutes git gives up anyway. In milliseconds. */
const FETCH_TIMEOUT = 1_800_000;
/** For listing refs, in milliseconds; git itself has no time limit. */
const LIST_TIMEOUT = 60_000;
/** In MiB; a list of a million tags, 87 MB long, fits. */
const LIST_MEMORY = 512;

export type RemoteRefs = Awaited<ReturnType<typeof listRefs>>;

/** The newest commit of what is followed, and its tag. */
export type RemoteHead = NonNullable<Awaited<ReturnType<typeof headOf>>>;

/** Calls git with the repository's address; some hosts serve it only without `.git`. */
export async function atAddress(source: GitSource, ask: (url: string) => Promise<GitResult>) {
  const base = `${source.gitUrl}/${source.repo}`;
  const answer = await ask(`${base}.git`);
  if (answer.status !== 0 && gitFailure(source, answer).code === 'repo_not_found') {
    const second = await ask(base);
    if (second.status === 0) return { answer: second, url: base };
  }
  return { answer, url: `${base}.git` };
}

/**
 * Lists refs of the host that match the patterns, and all tags, within `timeout` ms. `url` is the repository's address
 * as the host knows it: with or without `.git`. Throws `repo_not_found`, `code_host_error`, …
 */
export async function listRefs(
  source: GitSource,
  patterns: readonly string[],
  timeout = LIST_TIMEOUT,
) {
  const cwd = dirname(source.mirror);
  makeFolder(cwd);
  const options = { source, cwd, outside: true, timeout, memory: LIST_MEMORY };
  const list = (at: string, packets = false) => {
    const args = ['ls-remote', '--quiet', '--end-of-options', at, ...patterns, 'refs/tags/*'];
    return gitIn(source, args, { ...options, packets });
  };
  const { answer, url } = await atAddress(source, (at) => list(at));
  if (/out of memory/i.test(answer.stderr)) {
    const message = `the code host sends a list that does not fit into ${LIST_MEMORY} MiB`;
    throw new Failure('code_host_error', message);
  }
  if (answer.status !== 0) throw gitFailure(source, answer);
  const refs = answer.stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter((parts) => parts.length === 2 && /^[0-9a-f]{40,64}$/.test(parts[0] ?? ''));
  // git takes a page without a newline for the empty list of a host without the git protocol.
  if (refs.length === 0 && !(await list(url, true)).stderr.includes(' packet: ')) throw notGit();
  if (refs.some(([id]) => id?.length === 64)) throw new Failure('git_failed', sha256Words(source));
  return { refs: refs as unknown as Ref[], url };
}

/** Lists what the source follows, and refs that match these patterns. */
export function listFollowed(source: GitSource, more: readonly string[] = []): Promise<RemoteRefs> {
  return listRefs(source, [...(source.tags ? [] : [branchRef(source)]), ...more]);
}

const branchRef = ({ branch }: GitSource) => `refs/heads/${branch}`;

/** Picks the newest commit that the source follows from its refs, and its tag; undefined if no ref matches. */
export async function headOf(source: GitSource, refs: readonly Ref[]) {
  if (source.tags) {
    const tag = highest(tagsOf(refs), await orderOf(source.tags));
    return tag && { commit: tag.commit, tag: tag.name };
  }
  const commit = refs.find(([, ref]) => ref === branchRef(source))?.[0];
  return commit === undefined ? undefined : { commit, tag: tagOn(commit, refs) };
}

/** There is nothing to follow. */
export function noHead({ repo, branch, tags }: GitSource): Failure {
  return tags
    ? new Failure(
        'tag_not_found',
        `the repository ${repo} has no tag that matches ${followedWords({ branch, tags }).slice('tags '.length)}`,
      )
    : new Failure('branch_not_found', `the repository ${repo} has no branch '${branch}'`);
}

/** The tag of a commit, annotated or not; of several, the one that sorts last by number. */
export function tagOn(commit: string, refs: readonly Ref[]): string | undefined {
  const own = tagsOf(refs).filter((tag) => tag.commit === commit);
  const names = own.map(({ name }) => name).filter(isShowable);
  return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
}

/** The tag of a commit, e.g. `v1.2.3`, else its first 12 hex characters. */
export function versionOf(commit: string, tag: string | undefined): string {
  return tag ?? commit.slice(0, 12);
}

/** Makes the bare repository of a mirror, or makes sure that an existing one is not locked. */
export async function makeMirror({ io, signal }: GitSource, mirror: string): Promise<void> {
  if (existsSync(join(mirror, 'HEAD'))) return removeStaleLocks(mirror);
  makeFolder(mirror);
  const args = ['init', '--quiet', '--bare', '--template=', '--end-of-options', mirror];
  const made = await git(io, args, { cwd: mirror, signal });
  if (made.status === 0) return;
  const code = /No space left|quota exceeded/i.test(made.stderr) ? 'disk_full' : 'git_failed';
  throw new Failure(code, `git cannot make ${mirror}: ${made.stderr.trim()}`);
}

/** Fetches refspecs into a mirror, by default without history; into a new one, if it is damaged. */
export async function fetchRefs(
  source: GitSource,
  url: string,
  refspecs: readonly string[],
  {
    mirror = source.mirror,
    options = ['--depth=1'],
  }: { mirror?: string; options?: readonly string[] } = {},
): Promise<GitResult> {
  await makeMirror(source, mirror);
  const common = [
    '--quiet',
    '--force',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
  ];
  const args = ['fetch', ...common, ...options, '--end-of-options', url, ...refspecs];
  const fetch = () => gitIn(source, args, { source, cwd: mirror, timeout: FETCH_TIMEOUT });
  const fetched = await fetch();
  if (fetched.status === 0 || isRefused(fetched)) return fetched;
  if (gitFailure(source, fetched).code !== 'git_failed') return fetched;
  const checked = await gitIn(source, ['fsck', '--connectivity-only'], { cwd: mirror });
  // What was ended, as for want of time or memory, has found nothing.
  if (checked.status === 0 || checked.status === null) return fetched;
  // As a power cut leaves it. All of it can be fetched again.
  rmSync(mirror, { recursive: true, force: true });
  await makeMirror(source, mirror);
  return fetch();
}

/** Whether the host lacks the object, or serves only what branches and tags point to. */
export function isRefused(result: GitResult): boolean {
  return /not our ref|unadvertised object|couldn't find remote ref|no such remote ref/i.test(
    result.stderr,
  );
}

/** Fetches a commit by its full id, unless the mirror has it. Throws `ref_not_found`, … */
export async function fetchById(source: GitSource, commit: string): Promise<void> {
  await makeMirror(source, source.mirror);
  if ((await commitIn(source, commit)) === commit) return;
  const { answer } = await atAddress(source, (url) =>
    fetchRefs(source, url, [`+${commit}:refs/runner/wanted`]),
  );
  if (answer.status === 0) return;
  if (!isRefused(answer)) throw gitFailure(source, answer);
  const message = `the repository ${source.repo} has no commit ${commit.slice(0, 12)}`;
  throw new Failure('ref_not_found', message);
}

/** The full id of the commit that a name means in the mirror; undefined if there is none. */
export async function commitIn(source: GitSource, name: string): Promise<string | undefined> {
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`];
  const parsed = await gitIn(source, args);
  return parsed.status === 0 ? parsed.stdout.toString('latin1').trim() : undefined;
}
