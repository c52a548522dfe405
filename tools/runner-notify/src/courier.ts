/**
 * Brings messages to one channel: within its rates, again when that may help, and not at all while
 * the service has asked to be left alone or the destination is gone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, Message, Outcome, Problem } from './channels/channel.ts';

/** First pause before trying again, in milliseconds; it doubles up to PAUSE_MAX. */
const PAUSE = 500;
const PAUSE_MAX = 8_000;
/** Shortest pause after a refusal for haste, in milliseconds, whatever the service says. */
const WAIT_MIN = 100;
/** Longest rest that is kept beforehand, in milliseconds: windows of Discord are shorter. */
const REST_MAX = 5_000;

/** How a notice ended on one channel. */
export interface Ending {
  /** How many of its messages were delivered. */
  readonly messages: number;
  /** How the first message that was not delivered ended. */
  readonly failure: Exclude<Outcome, { class: 'delivered' }> | undefined;
  /** A message was refused as it was and delivered as plain text or shortened. */
  readonly degraded: 'markup' | 'length' | undefined;
  readonly movedTo: string | undefined;
}

export interface Clock {
  /** Milliseconds of a clock that never steps back. */
  elapsed(): number;
  random(bytes: number): Uint8Array;
}

export interface Courier {
  /** Delivers in order; a message that fails keeps back those after it. `wait` is each one's budget in milliseconds. */
  bring(messages: readonly Message[], wait: number): Promise<Ending>;
}

/** A courier remembers its channel's rates and refusals from one call to the next. */
export function courierFor(channel: Channel, clock: Clock): Courier {
  /** When recent messages were sent. */
  let sent: number[] = [];
  /** No exchange before this time, and why. */
  let blocked: { until: number; problem: Problem | undefined } = { until: 0, problem: undefined };
  let gone: Problem | undefined;

  const dueIn = (): number => {
    const now = clock.elapsed();
    const waits = channel.rates.map(({ count, per }) => {
      const oldest = sent.at(-count);
      return oldest === undefined ? 0 : oldest + per - now;
    });
    return Math.max(0, ...waits);
  };

  const exchange = async (message: Message): Promise<Outcome> => {
    await sleep(dueIn());
    const longest = Math.max(...channel.rates.map(({ count }) => count));
    sent = [...sent, clock.elapsed()].slice(-longest);
    const outcome = await channel.deliver(message);
    if (outcome.class === 'gone') gone = outcome.problem;
    if (outcome.class === 'wait') {
      const delay = Math.max(outcome.delay, WAIT_MIN);
      blocked = { until: clock.elapsed() + delay, problem: outcome.problem };
    } else if (outcome.class === 'delivered' && outcome.rest > 0) {
      const rest = Math.min(outcome.rest, REST_MAX);
      blocked = { until: clock.elapsed() + rest, problem: undefined };
    }
    return outcome;
  };

  const bringOne = async (first: Message, wait: number) => {
    const deadline = clock.elapsed() + wait;
    let message = first;
    let degraded: Ending['degraded'];
    let pause = PAUSE;
    for (;;) {
      if (gone) return { outcome: { class: 'gone', problem: gone } as const, degraded };
      const hold = blocked.until - clock.elapsed();
      if (blocked.problem && hold > 0 && blocked.until > deadline) {
        return {
          outcome: { class: 'wait', delay: hold, problem: blocked.problem } as const,
          degraded,
        };
      }
      if (hold > 0) await sleep(Math.ceil(hold));
      const outcome = await exchange(message);
      if (outcome.class === 'rejected' && outcome.complaint) {
        const other = message.instead(outcome.complaint);
        if (!other) return { outcome, degraded };
        message = other;
        degraded = outcome.complaint;
      } else if (outcome.class === 'retry') {
        // Half of the pause is left to chance, so that several senders do not return together.
        const chance = (clock.random(1)[0] as number) / 255;
        const next = pause * (0.5 + chance / 2);
        if (clock.elapsed() + next > deadline) return { outcome, degraded };
        await sleep(next);
        pause = Math.min(pause * 2, PAUSE_MAX);
      } else if (outcome.class !== 'wait') {
        return { outcome, degraded };
      }
    }
  };

  return {
    async bring(messages, wait) {
      let count = 0;
      let degraded: Ending['degraded'];
      let movedTo: string | undefined;
      for (const message of messages) {
        const result = await bringOne(message, wait);
        degraded ??= result.degraded;
        if (result.outcome.class !== 'delivered') {
          return { messages: count, failure: result.outcome, degraded, movedTo };
        }
        movedTo ??= result.outcome.movedTo;
        count += 1;
      }
      return { messages: count, failure: undefined, degraded, movedTo };
    },
  };
}
