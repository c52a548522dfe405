/** Which commits a commit has and the last accepted one has not, from the commits themselves. */
import { Failure } from '@runner/common/foundation/failure';
import type { ObjectReader } from './objects.ts';
import { parseCommit, type RawCommit } from './parse-object.ts';

export interface IdentifiedCommit extends RawCommit {
  readonly id: string;
}

/** What a walk found. */
export interface Walked {
  /** Newest first. May have some that the accepted one has too, where clocks were wrong. */
  readonly fresh: readonly IdentifiedCommit[];
  /** Whether one of them has the accepted commit as its parent. */
  readonly descends: boolean;
  /** A commit that would be needed and is not there. */
  readonly missing: string | undefined;
}

/** From where to where. */
export interface WalkRequest {
  readonly head: string;
  /** undefined: to the beginning, or `limit` commits. */
  readonly accepted: string | undefined;
  readonly limit?: number;
  /** Seconds since 1970: what the accepted commit has is followed back to here. */
  readonly since?: number;
}

interface Entry {
  readonly commit: IdentifiedCommit;
  isOld: boolean;
  isQueued: boolean;
}

/** Commits of the accepted one that are followed, at most: what is not known as old must be signed. */
const OLD_MAX = 20_000;

/** Follows parents, the newest commit first; what the accepted commit has too is not fresh. */
export async function walk(reader: ObjectReader, request: WalkRequest): Promise<Walked> {
  const { head, accepted, limit = Number.POSITIVE_INFINITY, since } = request;
  const known = new Map<string, Entry>();
  const queue: Entry[] = [];
  const fresh: Entry[] = [];
  let missing: string | undefined;
  let [open, olds] = [0, 0];
  const insert = (entry: Entry) => {
    let [low, high] = [0, queue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((queue[middle] as Entry).commit.date < entry.commit.date) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, entry);
    entry.isQueued = true;
    if (!entry.isOld) open += 1;
  };
  const add = async (id: string, isOld: boolean) => {
    const before = known.get(id);
    if (before) {
      if (!isOld || before.isOld) return;
      if (before.isQueued) open -= 1;
      before.isOld = true;
      if (!before.isQueued) insert(before);
      return;
    }
    const commit = await commitAt(reader, id);
    if (!commit && (!isOld || since !== undefined)) missing ??= id;
    if (!commit) return;
    const entry = { commit, isOld, isQueued: false };
    known.set(id, entry);
    insert(entry);
  };
  const isDone = () => {
    const newest = queue.at(-1)?.commit.date;
    if (newest === undefined || missing !== undefined) return true;
    return open === 0 && !(since !== undefined && newest >= since && olds < OLD_MAX);
  };
  if (accepted !== undefined) await add(accepted, true);
  if (head !== accepted) await add(head, false);
  while (!isDone()) {
    const entry = queue.pop() as Entry;
    entry.isQueued = false;
    if (entry.isOld) olds += 1;
    else {
      open -= 1;
      fresh.push(entry);
    }
    if (fresh.length >= limit) break;
    for (const parent of entry.commit.parents) await add(parent, entry.isOld);
  }
  const found = fresh.filter(({ isOld }) => !isOld).map(({ commit }) => commit);
  const isChild = ({ parents }: RawCommit) => accepted !== undefined && parents.includes(accepted);
  return { fresh: found, descends: head === accepted || found.some(isChild), missing };
}

/** Reads a commit; undefined if the mirror lacks it. Throws `git_failed`. */
export async function commitAt(
  reader: ObjectReader,
  id: string,
): Promise<IdentifiedCommit | undefined> {
  const object = await reader.read(id);
  if (!object) return undefined;
  if (object.type !== 'commit') throw new Failure('git_failed', `${id} is not a commit`);
  const commit = parseCommit(object.body);
  return { ...commit, date: Number.isNaN(commit.date) ? 0 : commit.date, id };
}
