/** `runner changes`: the commits between two versions of an app. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import { refName } from '@runner/common/foundation/names';
import { cleanRecord } from '@runner/common/redaction/record';
import { type CommitSummary, commitsBetween } from '../git/history.ts';
import { type SourceRequest, sourceOf } from '../git/open.ts';
import { headOf, listFollowed, noHead, tagOn, versionOf } from '../git/remote.ts';
import type { GitSource } from '../git/source.ts';
import type { Ref } from '../git/tags.ts';
import { underLock } from '../journal/lock.ts';

/** A commit by its name and its id. */
export interface NamedCommit {
  version: string;
  commit: string;
}

/** What `runner changes` prints. */
export interface ChangeList {
  app: string;
  /** `next`: what a deploy would bring; `last`: what the last one brought. */
  what: 'next' | 'last' | 'range';
  from: NamedCommit;
  to: NamedCommit;
  count: number;
  /** The page of the host that compares them; null if the host has none, or they are one commit. */
  compare: string | null;
  /** Newest first. */
  commits: CommitSummary[];
}

type ChangeRange = Pick<ChangeList, 'what' | 'from' | 'to'>;

/** How long to wait for the app's lock, in milliseconds. */
const WAIT = 15_000;

/** Throws `ref_not_found`, `version_not_found`, `locked`, and what git's calls throw. */
export async function listChanges(
  request: SourceRequest,
  app: AppState,
  from: string | undefined,
  to: string | undefined,
): Promise<ChangeList> {
  const { source, redact } = sourceOf(request, app);
  const range = await rangeOf(source, app, from, to);
  return underLock({ ...request, app: app.app, wait: WAIT }, 'changes', async () => {
    const [first, last] = [range.from.commit, range.to.commit];
    const found = first === last ? NOTHING : await commitsBetween(source, first, last, 'far');
    if (!found) {
      const message = `the code host does not say what is between ${range.from.version} and ${range.to.version}: it no longer has both, or does not serve partial clones`;
      throw new Failure('ref_not_found', message);
    }
    const compare = first === last ? null : (source.compare(first, last) ?? null);
    const list = { app: app.app, ...range, count: found.count, compare };
    return cleanRecord({ ...list, commits: [...found.commits] }, redact);
  });
}

const NOTHING = { commits: [], count: 0 };

async function rangeOf(
  source: GitSource,
  app: AppState,
  from: string | undefined,
  to: string | undefined,
): Promise<ChangeRange> {
  const names = [from, to].filter((name) => name !== undefined);
  const wanted = names.map((name) => refName(name, 'version, branch, tag or commit'));
  const patterns = wanted.flatMap((name) => [`refs/heads/${name}`, `refs/tags/${name}`]);
  const { refs } = await listFollowed(source, patterns);
  const head = await headOf(source, refs);
  if (from !== undefined) {
    const end = to === undefined ? newest(source, head) : resolve(source, app, refs, to);
    return { what: 'range', from: resolve(source, app, refs, from), to: end };
  }
  const [first] = Object.values(app.instances).filter(({ current }) => current);
  const current = first?.current;
  if (!current) {
    const message = `nothing of '${app.app}' is deployed yet: give two versions`;
    throw new Failure('version_not_found', message);
  }
  if (head && head.commit !== current.commit)
    return { what: 'next', from: shown(current), to: newest(source, head) };
  const [before] = first?.previous ?? [];
  return { what: 'last', from: shown(before ?? current), to: shown(current) };
}

const shown = ({ version, commit }: Deployed): NamedCommit => ({ version, commit });

function newest(source: GitSource, head: Awaited<ReturnType<typeof headOf>>): NamedCommit {
  if (!head) throw noHead(source);
  return { commit: head.commit, version: versionOf(head.commit, head.tag) };
}

/** Shortest beginning of a commit's id that is taken for one. */
const SHORTEST = 7;

/** A version that is kept, a branch, a tag, or the id of a commit. */
function resolve(
  source: GitSource,
  app: AppState,
  refs: readonly Ref[],
  name: string,
): NamedCommit {
  const kept = Object.values(app.instances).flatMap(({ current, previous }) => [
    ...(current ? [current] : []),
    ...previous,
  ]);
  const named = kept.find(({ version }) => version === name);
  if (named) return shown(named);
  for (const ref of [`refs/heads/${name}`, `refs/tags/${name}^{}`, `refs/tags/${name}`]) {
    const commit = refs.find(([, listed]) => listed === ref)?.[0];
    if (commit !== undefined) return { commit, version: name };
  }
  const isBeginning = name.length >= SHORTEST && /^[0-9a-f]+$/.test(name);
  const begun = isBeginning ? kept.find(({ commit }) => commit.startsWith(name)) : undefined;
  if (begun) return shown(begun);
  if (/^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(name))
    return { commit: name, version: versionOf(name, tagOn(name, refs)) };
  throw new Failure(
    'ref_not_found',
    `the repository ${source.repo} has no branch or tag '${name}', and no such version is kept; give a commit in full`,
  );
}
