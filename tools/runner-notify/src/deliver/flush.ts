/** Delivers all due messages, and reports what stays queued. */

import type { Context } from '@runner/common/cli/command';
import { DESTINATION_NAMES, type DestinationName } from '@runner/common/config/channels';
import { isTelemetry } from '@runner/common/config/telemetry-schema';
import { onFailure } from '@runner/common/foundation/attempt';
import { announceableOf } from '../message/records.ts';
import { spoolProblem } from '../spool/entry.ts';
import { channelOf } from '../spool/names.ts';
import type { Spool } from '../spool/spool.ts';
import { OpenChannels, type OpenOptions } from './channels.ts';
import { follow, unfollow } from './follow.ts';
import { deliverQueue, type Outlet } from './loop.ts';
import type { Next } from './queue.ts';
import { type EntryResult, problemText, resultOf } from './result.ts';

/** Longest pause in the middle of a run, in milliseconds: a little more than the longest rate window. */
const PAUSE_MAX = 65_000;
/** A day, in milliseconds: how long messages wait for a channel that is not active. */
const AGE_MAX = 86_400_000;

/** Prints one result per message that leaves the queue. `now`: also retries messages that wait after a failure. */
export async function flushAll(
  context: OpenOptions & Pick<Context, 'print'>,
  now: boolean,
  only: readonly DestinationName[] = DESTINATION_NAMES,
): Promise<void> {
  const { io, note } = context;
  const opened = new OpenChannels(context);
  const { spool } = opened;
  const followed = only.filter(isTelemetry).filter((name) => opened.isActive(name));
  if (!DESTINATION_NAMES.some((name) => isTelemetry(name) && opened.isActive(name)))
    unfollow(opened);
  // Messages are delivered anyway.
  const failed =
    followed.length > 0
      ? await follow(opened, followed).catch(onFailure((failure) => failure))
      : undefined;
  const waiting = new Set(spool.names().map(channelOf));
  const print = async (delivery: EntryResult): Promise<void> => {
    const { channel, event } = delivery.entry;
    const record = announceableOf(event);
    if (typeof record !== 'object') return;
    await context.print(resultOf(opened.subjectOf(record), channel, delivery));
  };
  const flush = async (name: DestinationName): Promise<void> => {
    if (!opened.isActive(name)) {
      const count = giveUpInactive(spool, name, io.now().getTime());
      if (count > 0) note(`${name}: ${stillQueued(count)}: the channel is not active`);
      return;
    }
    const printing: Promise<void>[] = [];
    const left = await deliverDue(opened.outletOf(name), now, (delivery) =>
      printing.push(print(delivery)),
    );
    await Promise.all(printing);
    const count = spool.names(name).length;
    if (!left || count === 0) return;
    if (left === 'busy') note(`${name}: another process is delivering`);
    else {
      const wait = `${Math.ceil(left.wait / 1000)} s`;
      const entry = spool.read(left.name);
      const problem = left.problem ?? (typeof entry === 'object' ? entry.problem : undefined);
      const reason = problem ? `${problemText(problem)}; ` : '';
      const why = left.why === 'asked' ? 'the service asks to wait' : `${reason}the next try is in`;
      note(`${name}: ${stillQueued(count)}: ${why} ${wait}`);
    }
  };
  await Promise.all(only.filter((name) => waiting.has(name)).map(flush));
  if (failed) throw failed;
}

function stillQueued(count: number): string {
  return count === 1 ? '1 message stays queued' : `${count} messages stay queued`;
}

/**
 * Delivers to one channel until no message is due. Returns why the queue is not empty: `busy` if another
 * process is delivering, or else the wait for the next message. `now`: also retries messages that wait
 * after a failure, once each.
 */
export async function deliverDue(
  outlet: Outlet,
  now: boolean,
  onDelivery: (delivery: EntryResult) => void,
): Promise<'busy' | Next | undefined> {
  let left: 'busy' | Next | undefined;
  let delivered = 0;
  await deliverQueue(outlet, {
    eager: now,
    goesOn(next) {
      left = next;
      if (next === 'busy' || !next) return false;
      // Wait for a 429 that arrived during this run, but not for an earlier one.
      const waits = next.why === 'rate' || (next.why === 'asked' && delivered > 0);
      return next.wait <= 0 || (waits && next.wait <= PAUSE_MAX);
    },
    onEnd(_, delivery) {
      if (delivery.result === 'delivered') delivered += 1;
      onDelivery(delivery);
    },
  });
  // What was tried once and failed waits like the rest.
  return left ?? outlet.queue.choose(outlet.open().wait(), false);
}

const INACTIVE = spoolProblem(
  'channel_not_active',
  'the channel is not active',
  'check section notify of config.yml, then `runner notify queue retry`',
);

/** Gives up messages that waited too long for an inactive channel; returns how many still wait. */
function giveUpInactive(spool: Spool, name: DestinationName, now: number): number {
  let waiting = 0;
  for (const each of spool.names(name)) {
    const entry = spool.read(each);
    if (entry === undefined) continue;
    if (entry !== 'damaged' && now - Date.parse(entry.queued_at) <= AGE_MAX) waiting += 1;
    else
      spool.move(each, entry === 'damaged' ? undefined : { ...entry, problem: INACTIVE }, 'dead');
  }
  return waiting;
}
