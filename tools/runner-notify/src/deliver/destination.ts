/**
 * What all processes know of a destination: how much was sent in the windows of its rates, how long it
 * wants to be left alone, whether it is gone.
 */

import type { ChannelName } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import type { Outcome, Problem, Rate } from '../service/contract.ts';
import { NO_TROUBLE, type Pause, readState, type State, writeState } from '../spool/state.ts';

/** After this many failures in a row the whole destination gets a pause. */
const TROUBLE_MIN = 3;
/** Shortest pause after a 429, in milliseconds. */
const ASKED_MIN = 100;
/** Longest rest after a used-up window, in milliseconds; the windows of Discord are shorter. */
const REST_MAX = 5_000;

/** First pause after a temporary problem, in milliseconds; it doubles up to PAUSE_MAX. */
const PAUSE = 1_000;
/** The longest, in milliseconds. */
export const PAUSE_MAX = 60_000;
const PAUSE_MIN = 100;

/** Doubles with each failure; random, so that several senders do not return together. */
export function pauseAfter(failures: number, chance: number): number {
  const most = Math.min(PAUSE * 2 ** (failures - 1), PAUSE_MAX);
  return Math.max(PAUSE_MIN, Math.round(most * chance));
}

/** Why no message can be sent now: our rates, the service's request, or temporary problems. */
export type WaitKind = 'rate' | 'asked' | 'trouble';

/** How long no message can be sent, and why. */
export interface Wait {
  /** Milliseconds; 0 when a message may be sent now. */
  readonly ms: number;
  readonly kind: WaitKind;
  /** The last problem; undefined for our own rates. */
  readonly problem: Problem | undefined;
}

/** Decides when the next message may be sent, and learns from each answer. */
export interface Destination {
  wait(options?: { readonly ignoreTrouble: boolean }): Wait;
  /** Why no message is sent any more. */
  stopped(): Problem | undefined;
  /** To be called right before a request. */
  sending(): void;
  /** To be called right after the request; `pause` is the pause after `failures`, in milliseconds. */
  answered(outcome: Outcome, pause: (failures: number) => number): void;
}

/** Which destination; other credentials are another destination. */
export interface DestinationOptions {
  readonly paths: Paths;
  readonly channel: ChannelName;
  /** Digest of the credentials. */
  readonly digest: string;
  readonly rates: readonly Rate[];
  /** Milliseconds since 1970. */
  now(): number;
  note(text: string): void;
}

/**
 * Reads a destination's state; one that is unreadable, or belongs to other credentials, counts as
 * empty. When it cannot be written, which is noted once, the rates hold in this process only.
 */
export function openDestination(options: DestinationOptions): Destination {
  const { paths, channel, digest, rates, now, note } = options;
  const longest = Math.max(...rates.map(({ count }) => count));
  const widest = Math.max(...rates.map(({ per }) => per));
  let state = readState(paths, channel, digest);
  let noted = false;

  const change = (next: Partial<State>) => {
    state = { ...state, ...next };
    try {
      writeState(paths, channel, state);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!noted) note(`${channel}: ${error.message}: other processes cannot know its rates`);
      noted = true;
    }
  };
  /** When the clock was set back, pauses restart at most. */
  const fixTimes = () => {
    const at = now();
    const moved = (pause: Pause | null) =>
      pause && pause.from > at ? { from: at, until: at + pause.until - pause.from } : pause;
    const { until, asked_at, sent, rest, trouble } = state;
    const asked = moved(until === null ? null : { from: asked_at ?? at, until });
    if ([asked_at, rest?.from, trouble.pause?.from, ...sent].every((time) => (time ?? 0) <= at))
      return;
    change({
      sent: sent.map((time) => Math.min(time, at)),
      until: asked?.until ?? null,
      asked_at: asked?.from ?? null,
      rest: moved(rest),
      trouble: { ...trouble, pause: moved(trouble.pause) },
    });
  };
  const left = (pause: Pause | null) => (pause ? Math.max(0, pause.until - now()) : 0);
  const askedLeft = () => Math.max(0, (state.until ?? 0) - now());
  const rateLeft = () => {
    const waits = rates.map(({ count, per }) => {
      const oldest = state.sent.at(-count);
      return oldest === undefined ? 0 : oldest + per - now();
    });
    return Math.max(0, left(state.rest), ...waits);
  };

  return {
    wait({ ignoreTrouble } = { ignoreTrouble: false }) {
      fixTimes();
      const asked = askedLeft();
      const trouble = ignoreTrouble ? 0 : left(state.trouble.pause);
      const kind = asked > 0 ? 'asked' : trouble > 0 ? 'trouble' : 'rate';
      const problem = kind !== 'rate' && state.last_error ? problemOf(state.last_error) : undefined;
      return { ms: Math.max(asked, trouble, rateLeft()), kind, problem };
    },
    stopped: () => state.stopped?.problem,
    sending() {
      const at = now();
      const recent = state.sent.filter((time) => at - time < widest);
      change({ sent: [...recent, at].slice(-longest) });
    },
    answered(outcome, pause) {
      const at = now();
      // The service counted it before it answered: the later time is safe.
      const sent = [...state.sent.slice(0, -1), at];
      const iso = new Date(at).toISOString();
      if (outcome.class === 'delivered') {
        const rest = Math.min(outcome.rest, REST_MAX);
        change({
          sent,
          until: null,
          asked_at: null,
          rest: rest > 0 ? { from: at, until: at + rest } : null,
          trouble: NO_TROUBLE,
          stopped: null,
          last_success: iso,
        });
        return;
      }
      const { problem } = outcome;
      const failed = { sent, last_error: { at: iso, ...problem } };
      if (outcome.class === 'wait') {
        const until = at + Math.max(outcome.delay, ASKED_MIN);
        change({ ...failed, until, asked_at: at });
      } else if (outcome.class === 'gone') {
        change({ ...failed, stopped: { at: iso, problem } });
      } else if (outcome.class === 'retry') {
        const count = state.trouble.count + 1;
        const long = count >= TROUBLE_MIN ? pause(count - TROUBLE_MIN + 1) : 0;
        const trouble = { count, pause: long > 0 ? { from: at, until: at + long } : null };
        change({ ...failed, trouble });
      } else {
        change({ ...failed, trouble: NO_TROUBLE });
      }
    },
  };
}

function problemOf({ at: _, ...problem }: Problem & { readonly at: string }): Problem {
  return problem;
}
