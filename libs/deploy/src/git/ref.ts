/** Resolving `--ref` to a commit, and fetching that into the mirror. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { refName } from '@runner/common/foundation/names';
import { didYouMean } from '@runner/common/text/nearest';
import { gitFailure } from './failure.ts';
import { gitIn } from './git.ts';
import {
  commitIn,
  fetchRefs,
  headOf,
  isRefused,
  listFollowed,
  noHead,
  type RemoteRefs,
  tagOn,
  versionOf,
} from './remote.ts';
import type { GitSource } from './source.ts';
import { isShowable, type Ref } from './tags.ts';

/** A commit that was fetched into the mirror. */
export interface ResolvedRef {
  readonly commit: string;
  readonly version: string;
  /** Head of what the app follows; undefined if the host has none. */
  readonly head: string | undefined;
  /** What the host listed. */
  readonly refs: readonly Ref[];
  /** The tag that was followed or asked for, such as `refs/tags/v1`; undefined: it is not about a tag. */
  readonly tag?: string | undefined;
}

/** Names of our own, not those of the branches: `a` and `a/b` cannot both exist in a mirror. */
const HEAD = 'refs/runner/head';
const WANTED = 'refs/runner/wanted';
/** The shortest abbreviation of a commit's id that git accepts. */
const SHORTEST = 4;

/** Fetches a branch, tag or commit, or the head of what the app follows. */
export function fetchWanted(source: GitSource, ref: string | undefined): Promise<ResolvedRef> {
  return ref === undefined ? fetchHead(source) : fetchRef(source, ref);
}

/** Throws `branch_not_found`, `repo_not_found`, … */
async function fetchHead(source: GitSource): Promise<ResolvedRef> {
  for (let attempt = 1; ; attempt += 1) {
    const { refs, url } = await listFollowed(source);
    const head = await headOf(source, refs);
    if (!head) throw noHead(source);
    const { commit, tag } = head;
    const found = {
      commit,
      version: versionOf(commit, tag),
      head: commit,
      refs,
      ...(source.tags && { tag: `refs/tags/${tag}` }),
    };
    if (isFetched(source, commit)) return found;
    // By its id: a push in between must not change the commit that was decided on.
    const fetched = await fetchRefs(source, url, [`+${commit}:${HEAD}`]);
    if (fetched.status === 0) return found;
    if (attempt > 1 || !isRefused(fetched)) throw gitFailure(source, fetched);
  }
}

/** Whether the commit was the head at the last fetch: git writes its name once all of it is there. */
function isFetched({ mirror }: GitSource, commit: string): boolean {
  return unlessFailure(() => readTextIfThere(join(mirror, HEAD), 64), '') === `${commit}\n`;
}

/**
 * Fetches a branch, a tag or a commit (its id, or the beginning of it); if a branch and a tag have
 * the same name, the branch. Throws `name_invalid`, `ref_not_found`, `ref_ambiguous`.
 */
async function fetchRef(source: GitSource, ref: string): Promise<ResolvedRef> {
  const name = refName(ref, 'branch, tag or commit');
  const full = name.startsWith('refs/');
  const candidates = full ? [name] : [`refs/heads/${name}`, `refs/tags/${name}`];
  const listing = await listFollowed(source, candidates);
  const { refs } = listing;
  const head = (await headOf(source, refs))?.commit;
  const found = candidates.find((each) => refs.some(([, listed]) => listed === each));
  if (found !== undefined) return { ...(await fetchNamed(source, listing, found)), head, refs };
  if (!/^[0-9a-f]{4,64}$/i.test(name)) throw notFound(source, ref, refs);
  const commit = await fetchCommit(source, listing.url, name.toLowerCase());
  return { commit, version: versionOf(commit, tagOn(commit, refs)), head, refs };
}

function notFound(source: GitSource, ref: string, refs: readonly Ref[] = []): Failure {
  const known = refs.map(([, name]) => name.replace(/^refs\/(?:heads|tags)\/|\^\{\}$/g, ''));
  const near = didYouMean(ref, known.filter(isShowable));
  return new Failure(
    'ref_not_found',
    `the repository ${source.repo} has no branch, tag or commit '${ref.slice(0, 80)}'${near}`,
  );
}

async function fetchNamed(source: GitSource, { refs, url }: RemoteRefs, name: string) {
  const fetched = await fetchRefs(source, url, [`+${name}:${WANTED}`]);
  if (fetched.status !== 0) throw gitFailure(source, fetched);
  const commit = await commitIn(source, WANTED);
  if (commit === undefined)
    throw new Failure('ref_not_found', `${name} of ${source.repo} does not point to a commit`);
  const tag = name.startsWith('refs/tags/') ? { tag: name } : {};
  return { commit, version: versionOf(commit, tagNamed(name) ?? tagOn(commit, refs)), ...tag };
}

/** A tag that was asked for by its name is the version, even if the commit has others. */
function tagNamed(name: string): string | undefined {
  const tag = name.startsWith('refs/tags/') ? name.slice('refs/tags/'.length) : '';
  return isShowable(tag) ? tag : undefined;
}

async function fetchCommit(source: GitSource, url: string, id: string): Promise<string> {
  const isFull = id.length === 40 || id.length === 64;
  const commit = isFull ? id : await expand(source, url, id);
  const direct = await fetchRefs(source, url, [`+${commit}:${WANTED}`]);
  if (direct.status === 0) {
    const fetched = await commitIn(source, commit);
    if (fetched !== undefined) return fetched;
    throw notFound(source, id);
  }
  if (!isRefused(direct)) throw gitFailure(source, direct);
  // The host serves no commit by its id: look in the history of its branches and tags.
  if (isFull) await expand(source, url, id);
  const history = ['+refs/heads/*:refs/runner/heads/*', '+refs/tags/*:refs/runner/tags/*'];
  const all = await fetchRefs(source, url, history, { options: ['--depth=2147483647'] });
  if (all.status !== 0) throw gitFailure(source, all);
  if ((await commitIn(source, commit)) === undefined) throw notFound(source, id);
  return commit;
}

/**
 * The full id of the one commit that begins with `id`. Fetches only commits, if the host supports
 * that, into a temporary repository.
 */
async function expand(source: GitSource, url: string, id: string): Promise<string> {
  if (id.length < SHORTEST) throw notFound(source, id);
  const mirror = join(source.mirror, 'history.git');
  rmSync(mirror, { recursive: true, force: true });
  try {
    const refspecs = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
    const options = ['--filter=tree:0'];
    const fetched = await fetchRefs(source, url, refspecs, { mirror, options });
    if (fetched.status !== 0) throw gitFailure(source, fetched);
    const commits = await commitsBeginning({ ...source, mirror }, id);
    const [commit] = commits;
    if (commit === undefined) throw notFound(source, id);
    if (commits.length === 1) return commit;
    throw new Failure(
      'ref_ambiguous',
      `'${id}' matches ${commits.length} commits of ${source.repo}: use more characters`,
    );
  } finally {
    rmSync(mirror, { recursive: true, force: true });
  }
}

async function commitsBeginning(source: GitSource, id: string): Promise<string[]> {
  const listed = await gitIn(source, ['rev-parse', `--disambiguate=${id}`]);
  const input = listed.stdout.toString('latin1');
  if (input.trim() === '') return [];
  const checked = await gitIn(source, ['cat-file', '--batch-check'], { input });
  return checked.stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line.split(' ')[1] === 'commit')
    .map((line) => line.split(' ')[0] as string);
}
