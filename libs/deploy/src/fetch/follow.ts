/** What a commit of the host means to an app that follows tags or paths. */

import { heldCommits } from '@runner/common/apps/hold';
import type { AppState } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import { tidyMirror } from '../git/mirror-upkeep.ts';
import type { RemoteHead } from '../git/remote.ts';
import { fetchMissing, samePaths } from '../git/same-paths.ts';
import type { GitSource } from '../git/source.ts';
import { type KeptVersion, keptTag, orderOf, type Ref, tagsOf } from '../git/tags.ts';
import type { Lenders } from './shared.ts';

/** Why an app stays at the tag that it runs, if it does; of several instances, at the highest. */
export async function whyKept(
  app: AppState,
  refs: readonly Ref[],
  head: RemoteHead | undefined,
): Promise<KeptVersion | undefined> {
  if (!app.tags) return undefined;
  const order = await orderOf(app.tags);
  const running = Object.values(app.instances).flatMap(({ current }) => current ?? []);
  const [top] = running
    .filter(({ version }) => order.names(version))
    .sort((a, b) => order.compare(b.version, a.version));
  const tag = head?.tag === undefined ? undefined : { name: head.tag, commit: head.commit };
  return top && keptTag(order, tagsOf(refs), tag, top);
}

/** Whether a commit is the same to the app as the one that is looked at. */
export type Same = (other: string | undefined) => boolean;

/** An app that `fetch` looks at. */
export interface LookedAt {
  readonly app: AppState;
  readonly source: GitSource;
  /** Runs what fetches, under the app's lock. */
  locked<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Compares the paths of an app in a commit and in those that it knows; undefined if all commits matter.
 * `lenders` knows which mirror another app fetched into.
 */
export async function sameFor(
  { app, source, locked }: LookedAt,
  commit: string,
  lenders?: Lenders,
): Promise<Same | undefined> {
  const { paths } = app;
  const known = knownCommits(app);
  if (!paths || known.length === 0 || known.every((each) => each === commit)) return undefined;
  const wanted = { commit, others: known, paths };
  const lent = async (mirror: Promise<string | undefined> | undefined) => {
    const lender = await mirror;
    return lender === undefined ? undefined : samePaths(source, { ...wanted, lender });
  };
  const fetched = () => {
    const work = locked(() => compared(source, commit, known, paths));
    lenders?.add(source, commit, work);
    return work;
  };
  const own = await samePaths(source, wanted);
  if (own) lenders?.add(source, commit, Promise.resolve());
  const found =
    own ?? (await lent(lenders?.of(source, commit))) ?? (await fetched()) ?? new Set([commit]);
  return (other) => other !== undefined && found.has(other);
}

/** What the host does not have any more is not the same. */
async function compared(
  source: GitSource,
  commit: string,
  known: readonly string[],
  paths: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  // No deploy may follow for months. First: no ref may lead to a known commit.
  await tidyMirror(source.io, source.mirror);
  const there = await fetchMissing(source, [commit, ...known]);
  if (!there.includes(commit)) throw new Failure('ref_not_found', `the commit ${commit} is gone`);
  return samePaths(source, { commit, others: there, paths });
}

/** The commits that decide whether another one is deployed. */
function knownCommits({ instances, held, failures }: AppState): string[] {
  const running = Object.values(instances).flatMap(({ current }) => current?.commit ?? []);
  return [...running, ...(held ? heldCommits(held) : []), ...(failures ? [failures.commit] : [])];
}
