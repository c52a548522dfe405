/** The spool for `runner notify queue`. */

import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/audit/record';
import { Failure } from '@runner/common/foundation/failure';
import { newEntry, type QueueEntry } from './entry.ts';
import { channelOf, type EntryName, idOf } from './names.ts';
import { type Locking, type Spool, type SpoolPlace, waitForChannel } from './spool.ts';

/** A message as `queue` prints it; `event` only with `show`. */
export type WaitingMessage = Omit<NonNullable<ReturnType<typeof waitingOf>>, 'event'> & {
  readonly event?: LogRecord;
};

export interface SpoolFile {
  readonly name: EntryName;
  readonly place: SpoolPlace;
}

/** All messages in the queue, then those that were given up; oldest first. */
export function findAll(spool: Spool, places: readonly SpoolPlace[]): SpoolFile[] {
  return places.flatMap((place) => spool.names(undefined, place).map((name) => ({ name, place })));
}

/** The messages of these ids. Throws `message_not_found` for the first that is not there. */
export function findThese(
  spool: Spool,
  ids: readonly string[],
  places: readonly SpoolPlace[],
): SpoolFile[] {
  // If an id is in both places, the queue takes precedence.
  const all = new Map(
    findAll(spool, places)
      .reverse()
      .map((each) => [idOf(each.name), each]),
  );
  return [...new Set(ids)].map((id) => {
    const found = all.get(id);
    if (found) return found;
    const where =
      places.length === 1 && places[0] === 'dead' ? 'was given up' : 'is waiting or was given up';
    throw new Failure('message_not_found', `no message '${id}' ${where}`, { id });
  });
}

/** A message for people; undefined when it left in the meantime. */
export function waitingOf(spool: Spool, { name, place }: SpoolFile) {
  const entry = spool.read(name, place);
  if (entry === undefined) return undefined;
  const isSound = entry !== 'damaged';
  const { event, queued_at, attempts, first_at, next_at, sent, maybe_duplicate, problem } = isSound
    ? entry
    : newEntry(channelOf(name), {}, new Date(0));
  const live = attempts > 0 || next_at !== null ? 'waiting' : 'queued';
  const project = String(projectOf(event) ?? '');
  return {
    id: idOf(name),
    channel: channelOf(name),
    /** `waiting`: it was tried, or the service asked to wait; `dead`: given up; `damaged`: not an entry. */
    state: !isSound ? 'damaged' : place === 'dead' ? 'dead' : live,
    event_type: String(kindOf(event) ?? ''),
    project,
    /** The same under its other name. */
    app: project,
    instance: textOf(event, 'instance') || 'default',
    version: textOf(event, 'version'),
    deploy_id: textOf(event, 'deploy_id'),
    /** null when unknown. */
    queued_at: isSound ? queued_at : null,
    attempts,
    first_at,
    next_at,
    /** How many messages of the event were delivered. */
    messages: sent,
    maybe_duplicate,
    problem,
    event,
  };
}

/** Longest wait for another process that delivers, in seconds. */
const LOCK_WAIT = 5;

/**
 * Makes messages due again, those that were given up as if they were new. A stopped destination stays
 * stopped. Throws `locked` when another process delivers for longer than 5 s.
 */
export function retry(by: Locking, spool: Spool, found: readonly SpoolFile[]): void {
  for (const channel of new Set(found.map(({ name }) => channelOf(name)))) {
    using _lock = waitForChannel(by, channel, LOCK_WAIT);
    for (const { name, place } of found.filter((each) => channelOf(each.name) === channel)) {
      const entry = spool.read(name, place);
      if (entry === undefined) continue;
      if (entry === 'damaged') throw damaged(spool, { name, place });
      const due = dueEntry(entry, by.io.now());
      if (place === 'dead') spool.move(name, due, 'queue');
      else spool.save(name, due);
    }
  }
}

/** The damaged files, each with advice. */
export function damagedOf(spool: Spool, found: readonly SpoolFile[]): Map<SpoolFile, Failure> {
  const those = found.filter(({ name, place }) => spool.read(name, place) === 'damaged');
  return new Map(those.map((each) => [each, damaged(spool, each)]));
}

function damaged(spool: Spool, { name, place }: SpoolFile): Failure {
  const what = `the message ${idOf(name)} is damaged (${spool.path(name, place)})`;
  return new Failure('file_unreadable', `${what}: drop it`);
}

function dueEntry(entry: QueueEntry, now: Date): QueueEntry {
  return { ...entry, queued_at: now.toISOString(), attempts: 0, next_at: null, problem: null };
}
