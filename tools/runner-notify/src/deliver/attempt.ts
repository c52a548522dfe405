/** One request for an entry: a new message, a reply or an edit, and what its outcome does to the entry. */
import type { Channel, Complaint, Message, SendOutcome } from '../service/contract.ts';
import { type QueueEntry, requestOf, spoolProblem } from '../spool/entry.ts';
import { type EntryName, idOf } from '../spool/names.ts';
import type { Clock } from './clock.ts';
import type { Destination, Posted } from './destination.ts';
import type { Queue } from './queue.ts';
import type { EntryResult } from './result.ts';
import { laterEntry, pauseAfter } from './retry.ts';

/** The entry being delivered, with its messages in the forms that were not refused. */
export interface EntryWork {
  readonly name: EntryName;
  readonly messages: Message[];
  degraded?: Complaint | undefined;
  movedTo?: string | undefined;
}

/** Where the request comes from, and where it goes. */
interface Way {
  readonly queue: Queue;
  readonly channel: Channel;
  readonly destination: Destination;
  readonly clock: Clock;
}

/** Of a message that was sent before, or has nothing to edit. */
const DELIVERED: SendOutcome = { class: 'delivered', rest: 0 };
const UNREADABLE = spoolProblem('event_invalid', 'the event cannot be read');

/** Sends the next message of an entry; returns its delivery if it was the last one or failed for good. */
export async function attempt(
  way: Way,
  work: EntryWork,
  found: QueueEntry,
  within: number | undefined,
): Promise<EntryResult | undefined> {
  const { queue, channel, destination, clock } = way;
  const { name, messages } = work;
  if (messages.length === 0) return end(way, work, 'rejected', { ...found, problem: UNREADABLE });
  const next = messages[found.sent];
  if (!next) return end(way, work, 'delivered', { ...found, sent: messages.length });
  const message = { ...next, only: found.left ?? undefined };
  const request = requestOf(name, found);
  const edited = channel.edit && destination.messageId(...(message.step?.edits ?? []));
  if (destination.isDone(request) || (message.step?.onlyEdit && edited === undefined))
    return settle(way, work, { ...found, attempting: null }, DELIVERED);
  const problem = destination.stopped();
  if (problem) return end(way, work, 'rejected', { ...found, problem });
  const now = new Date(clock.now()).toISOString();
  const entry: QueueEntry = {
    ...found,
    attempting: now,
    first_at: found.first_at ?? now,
    // Another process was killed before it got the answer to its request.
    maybe_duplicate: found.maybe_duplicate || found.attempting !== null,
  };
  queue.save(name, entry);
  queue.tried(name);
  destination.sending();
  const reply = destination.messageId(message.step?.repliesTo);
  const posted = await post(channel, message, { edited, reply, within });
  const pause = (failures: number) => pauseAfter(failures, clock.random());
  destination.answered(posted, request, message.step, pause);
  return settle(way, work, { ...entry, attempting: null }, posted.outcome);
}

/** The ids of the messages to edit and to answer, and the milliseconds for the request. */
interface DeliveryTarget {
  readonly edited: string | undefined;
  readonly reply: string | undefined;
  readonly within: number | undefined;
}

/** Makes a second request if the message to edit no longer exists. */
async function post(
  channel: Channel,
  message: Message,
  { edited, reply, within }: DeliveryTarget,
): Promise<Posted> {
  if (edited !== undefined && channel.edit) {
    const outcome = await channel.edit(edited, message, within);
    const isMissing =
      outcome.class === 'rejected' && (outcome.missing || outcome.movedTo !== undefined);
    if (!isMissing) return { outcome, id: edited };
    if (message.step?.onlyEdit) return { outcome: DELIVERED };
  }
  const outcome = await channel.send(message, within, reply);
  const body = outcome.class === 'delivered' ? outcome.accepted?.body : undefined;
  return { outcome, id: body && channel.idOf?.(body) };
}

/** Takes an entry out of the queue. */
function end(
  { queue }: Way,
  { name, degraded, movedTo }: EntryWork,
  result: 'delivered' | 'rejected',
  entry: QueueEntry,
): EntryResult {
  if (result === 'delivered') queue.remove(name);
  else queue.bury(name, entry);
  return { result, entry, id: result === 'delivered' ? undefined : idOf(name), degraded, movedTo };
}

/** Saves an entry after its request; returns its delivery when it leaves the queue. */
function settle(
  way: Way,
  work: EntryWork,
  entry: QueueEntry,
  outcome: SendOutcome,
): EntryResult | undefined {
  const { name, messages } = work;
  const saved = (next: QueueEntry, isTried = false) => {
    if (!isTried) way.queue.untried(name);
    way.queue.save(name, next);
    return undefined;
  };
  if (outcome.class === 'delivered') {
    work.movedTo ??= outcome.movedTo;
    const sent = entry.sent + 1;
    const done: QueueEntry = {
      ...entry,
      sent,
      left: null,
      attempts: 0,
      next_at: null,
      problem: null,
    };
    return sent >= messages.length ? end(way, work, 'delivered', done) : saved(done);
  }
  const complaint = outcome.class === 'rejected' ? outcome.complaint : undefined;
  const other = complaint && messages[entry.sent]?.instead(complaint);
  if (other) {
    messages[entry.sent] = { ...other, step: messages[entry.sent]?.step };
    work.degraded = complaint;
    return saved(entry);
  }
  const isPassing = outcome.class === 'wait' || outcome.class === 'retry';
  const later = isPassing ? laterEntry(entry, outcome, way.clock) : undefined;
  if (later) return saved(later, outcome.class === 'retry');
  const { problem } = outcome;
  const left = ('left' in outcome ? outcome.left : entry.left) ?? null;
  return end(way, work, 'rejected', { ...entry, attempts: entry.attempts + 1, left, problem });
}
