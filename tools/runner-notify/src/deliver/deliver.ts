/**
 * Delivers the queue of one channel, one request at a time: in order within each deploy, within the
 * rates, with retries. The caller holds the channel's lock.
 */
import type { Channel, Complaint, Message, Outcome } from '../service/contract.ts';
import { type Entry, requestOf, spoolProblem } from '../spool/entry.ts';
import type { EntryName } from '../spool/names.ts';
import type { Clock } from './clock.ts';
import type { Destination } from './destination.ts';
import { DELIVERED, hasNothingToEdit, post } from './post.ts';
import type { Next, Queue } from './queue.ts';
import { laterEntry, pauseAfter } from './retry.ts';

/** Longest sleep, in milliseconds: messages may arrive meanwhile, and the clock may be changed. */
const SLICE = 200;

/** How an entry left the queue. */
export interface EntryEnding {
  readonly name: EntryName;
  /** `dead`: given up because of the entry's problem. */
  readonly result: 'delivered' | 'dead';
  readonly entry: Entry;
  /** The service refused the original form; the message was sent as plain text or shortened. */
  readonly degraded: Complaint | undefined;
  readonly movedTo: string | undefined;
}

/** How long to keep delivering. */
export interface DeliveryPolicy {
  /** Whether to make the request, or wait for it; undefined: the queue is empty. */
  shouldContinue(next: Next | undefined): boolean;
  /** Milliseconds for the next request; undefined: the channel's default. */
  within?(): number;
  /** Ignores pauses after temporary problems, once for each message. */
  readonly eager?: boolean;
}

export interface DeliverOptions {
  readonly queue: Queue;
  readonly channel: Channel;
  readonly destination: Destination;
  readonly clock: Clock;
  /** The messages of an entry, in order; empty when its event is invalid. */
  render(name: EntryName, entry: Entry): Promise<readonly Message[]>;
}

/** The entry being delivered, with its messages in the forms that were not refused. */
interface Work {
  readonly name: EntryName;
  readonly messages: Message[];
  degraded: Complaint | undefined;
  movedTo: string | undefined;
}

/** Delivers until `policy` stops it; `onEnd` gets each entry that leaves the queue. */
export async function deliver(
  options: DeliverOptions,
  policy: DeliveryPolicy,
  onEnd: (ending: EntryEnding) => void,
): Promise<void> {
  const { queue, destination, clock } = options;
  const eager = policy.eager === true;
  let work: Work | undefined;
  queue.begin();
  for (;;) {
    const next = queue.choose(destination.wait({ ignoreTrouble: eager }), eager);
    if (!policy.shouldContinue(next) || !next) return;
    if (next.wait > 0) {
      await clock.sleep(Math.min(Math.ceil(next.wait), SLICE));
      continue;
    }
    const entry = queue.read(next.name);
    if (entry === undefined || entry === 'damaged') {
      queue.forget(next.name);
      continue;
    }
    if (work?.name !== next.name) {
      const messages = [...(await options.render(next.name, entry))];
      work = { name: next.name, messages, degraded: undefined, movedTo: undefined };
    }
    const ending = await attempt(options, work, entry, policy.within?.());
    if (!ending) continue;
    work = undefined;
    onEnd(ending);
  }
}

/** Sends the next message of an entry; returns its ending if it was the last one or failed for good. */
async function attempt(
  options: DeliverOptions,
  work: Work,
  found: Entry,
  within: number | undefined,
): Promise<EntryEnding | undefined> {
  const { queue, channel, destination, clock } = options;
  const { name, messages } = work;
  if (messages.length === 0) return end(queue, work, 'dead', { ...found, problem: UNREADABLE });
  const next = messages[found.sent];
  if (!next) return end(queue, work, 'delivered', { ...found, sent: messages.length });
  const message = { ...next, only: found.left ?? undefined };
  const request = requestOf(name, found);
  if (destination.isDone(request) || hasNothingToEdit(channel, destination, message))
    return settle(options, work, { ...found, attempting: null }, DELIVERED);
  const problem = destination.stopped();
  if (problem) return end(queue, work, 'dead', { ...found, problem });
  const now = new Date(clock.now()).toISOString();
  const entry: Entry = {
    ...found,
    attempting: now,
    first_at: found.first_at ?? now,
    // Another process was killed before it got the answer to its request.
    maybe_duplicate: found.maybe_duplicate || found.attempting !== null,
  };
  queue.save(name, entry);
  queue.tried(name);
  destination.sending();
  const posted = await post(channel, destination, message, within);
  const pause = (failures: number) => pauseAfter(failures, clock.random());
  destination.answered(posted, request, message.step, pause);
  return settle(options, work, { ...entry, attempting: null }, posted.outcome);
}

/** Takes an entry out of the queue. */
function end(queue: Queue, work: Work, result: EntryEnding['result'], entry: Entry): EntryEnding {
  const { name, degraded, movedTo } = work;
  if (result === 'dead') queue.bury(name, entry);
  else queue.remove(name);
  return { name, result, entry, degraded, movedTo };
}

/** Saves an entry after its request; returns its ending when it leaves the queue. */
function settle(
  { queue, clock }: DeliverOptions,
  work: Work,
  entry: Entry,
  outcome: Outcome,
): EntryEnding | undefined {
  const { name, messages } = work;
  if (outcome.class === 'delivered') {
    work.movedTo ??= outcome.movedTo;
    const sent = entry.sent + 1;
    const done: Entry = { ...entry, sent, left: null, attempts: 0, next_at: null, problem: null };
    if (sent >= messages.length) return end(queue, work, 'delivered', done);
    queue.untried(name);
    queue.save(name, done);
    return undefined;
  }
  const complaint = outcome.class === 'rejected' ? outcome.complaint : undefined;
  const other = complaint && messages[entry.sent]?.instead(complaint);
  if (other) {
    messages[entry.sent] = { ...other, step: messages[entry.sent]?.step };
    work.degraded = complaint;
    queue.untried(name);
    queue.save(name, entry);
    return undefined;
  }
  const isFinal = outcome.class === 'rejected' || outcome.class === 'gone';
  const later = isFinal ? undefined : laterEntry(entry, outcome, clock);
  if (later === undefined) {
    const attempts = entry.attempts + 1;
    const left = 'left' in outcome ? outcome.left : entry.left;
    return end(queue, work, 'dead', {
      ...entry,
      attempts,
      left: left ?? null,
      problem: outcome.problem,
    });
  }
  if (outcome.class === 'wait') queue.untried(name);
  queue.save(name, later);
  return undefined;
}

const UNREADABLE = spoolProblem('event_invalid', 'the event cannot be read');
