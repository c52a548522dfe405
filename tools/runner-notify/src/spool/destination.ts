/**
 * What is known of a destination by everybody who sends there, now and later: how much was sent in
 * the windows of its rates, how long it wants to be left alone, whether it is gone.
 */

import type { ChannelName } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import type { Outcome, Problem, Rate } from '../channels/channel.ts';
import { NO_TROUBLE, type Pause, readState, type State, writeState } from './destination-state.ts';

/** So many messages in a row fail before the whole destination is left alone for a while. */
const TROUBLE_MIN = 3;
/** Shortest pause after a 429, in milliseconds, whatever the service says. */
const ASKED_MIN = 100;
/** Longest rest that Discord's headers ask for, in milliseconds; its windows are shorter. */
const REST_MAX = 5_000;

/** Why a message cannot be sent right now: its own rates, the service's wish, or trouble on the way. */
export type WaitKind = 'rate' | 'asked' | 'trouble';

/** How long nothing can be sent, and why. */
export interface Wait {
  /** Milliseconds; 0 when a message may be sent now. */
  readonly ms: number;
  readonly kind: WaitKind;
  /** What went wrong last; undefined when it is for our own rates alone. */
  readonly problem: Problem | undefined;
}

/** Decides when the next message may be sent, and learns from each answer. */
export interface Destination {
  wait(options?: { readonly ignoreTrouble: boolean }): Wait;
  /** Why nothing is sent any more. */
  stopped(): Problem | undefined;
  /** Call it right before a request. */
  sending(): void;
  /** Call it right after the answer, or its absence; `pause` is what trouble costs, in milliseconds. */
  answered(outcome: Outcome, pause: (failures: number) => number): void;
}

/** Which destination; other credentials are another one. */
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
 * Reads a destination's state; one that cannot be read, or is about other credentials, is an empty
 * one. `note` is told once when it cannot be written: the rates then hold in this process alone.
 */
export function openDestination(options: DestinationOptions): Destination {
  const { paths, channel, digest, rates, now, note } = options;
  const longest = Math.max(...rates.map(({ count }) => count));
  const widest = Math.max(...rates.map(({ per }) => per));
  let state = readState(paths, channel, digest);
  let told = false;

  const change = (next: Partial<State>) => {
    state = { ...state, ...next };
    try {
      writeState(paths, channel, state);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!told) note(`${channel}: ${error.message}: other processes cannot know its rates`);
      told = true;
    }
  };
  /** A clock that was set back must not make the past the future: pauses begin anew, at most. */
  const mendTimes = () => {
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
      mendTimes();
      const asked = askedLeft();
      const trouble = ignoreTrouble ? 0 : left(state.trouble.pause);
      const kind = asked > 0 ? 'asked' : trouble > 0 ? 'trouble' : 'rate';
      const told = kind !== 'rate' && state.last_error ? problemOf(state.last_error) : undefined;
      return { ms: Math.max(asked, trouble, rateLeft()), kind, problem: told };
    },
    stopped: () => state.stopped?.problem,
    sending() {
      const at = now();
      const recent = state.sent.filter((time) => at - time < widest);
      change({ sent: [...recent, at].slice(-longest) });
    },
    answered(outcome, pause) {
      const at = now();
      // The service counted it at some time before its answer: later is safe.
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
