/**
 * What is known of a destination by everybody who sends there, now and later: how much was sent in
 * the windows of its rates, how long it wants to be left alone, whether it is gone. It lies in
 * `spool/notify/<channel>.json` and is changed under the channel's lock alone.
 */
import { dirname } from 'node:path';
import { Failure } from '@runner/common/failure';
import { makeFolder, readIfThere, writeUnsynced } from '@runner/common/files';
import type { Paths } from '@runner/common/paths';
import type { ChannelName } from '@runner/common/settings';
import type { Outcome, Problem, Rate } from '../channels/channel.ts';
import { stateFile } from './spool.ts';

/** Bytes; what is written has some hundred. */
const STATE_MAX = 65_536;
/** So many messages in a row fail before the whole destination is left alone for a while. */
const TROUBLE_MIN = 3;
/** Shortest pause after a 429, in milliseconds, whatever the service says. */
const ASKED_MIN = 100;
/** Longest rest that Discord's headers ask for, in milliseconds; its windows are shorter. */
const REST_MAX = 5_000;

/** A pause, in milliseconds since 1970; its length bounds it when the clock is set back. */
interface Pause {
  readonly from: number;
  readonly until: number;
}

/** The state as it lies on disk. Times are milliseconds since 1970 unless said otherwise. */
interface State {
  readonly version: 1;
  /** Digest of the credentials that the rest is about. */
  readonly destination: string;
  /** When recent messages were sent. */
  readonly sent: readonly number[];
  /** The service asked to be left alone (429); null when not. */
  readonly until: number | null;
  readonly asked_at: number | null;
  /** The service announced that its window is used up. */
  readonly rest: Pause | null;
  /** How many messages in a row met trouble that passes, and the pause after them. */
  readonly trouble: { readonly count: number; readonly pause: Pause | null };
  /** Nothing is sent before somebody mends the destination. */
  readonly stopped: { readonly at: string; readonly problem: Problem } | null;
  /** ISO 8601 UTC. */
  readonly last_success: string | null;
  readonly last_error: (Problem & { readonly at: string }) | null;
}

/** Why a message cannot be sent right now: its own rates, the service's wish, or trouble on the way. */
export type WaitKind = 'rate' | 'asked' | 'trouble';

export interface Wait {
  /** Milliseconds; 0 when a message may be sent now. */
  readonly ms: number;
  readonly kind: WaitKind;
  /** What went wrong last; undefined when it is for our own rates alone. */
  readonly problem: Problem | undefined;
}

export interface Destination {
  wait(options?: { readonly ignoreTrouble: boolean }): Wait;
  /** Why nothing is sent any more. */
  stopped(): Problem | undefined;
  /** Call it right before a request. */
  sending(): void;
  /** Call it right after the answer, or its absence; `pause` is what trouble costs, in milliseconds. */
  answered(outcome: Outcome, pause: (failures: number) => number): void;
}

const NOTHING: Omit<State, 'destination'> = {
  version: 1,
  sent: [],
  until: null,
  asked_at: null,
  rest: null,
  trouble: { count: 0, pause: null },
  stopped: null,
  last_success: null,
  last_error: null,
};

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
  const path = stateFile(paths, channel);
  const longest = Math.max(...rates.map(({ count }) => count));
  const widest = Math.max(...rates.map(({ per }) => per));
  let state = stateOf(path, digest);
  let told = false;

  const change = (next: Partial<State>) => {
    state = { ...state, ...next };
    try {
      makeFolder(dirname(path), 0o700);
      writeUnsynced(path, `${JSON.stringify(state)}\n`);
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
          trouble: NOTHING.trouble,
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
        change({ ...failed, trouble: NOTHING.trouble });
      }
    },
  };
}

/**
 * Keeps what a test message has shown of a destination: `problem` is null when it arrived, and
 * undefined when none was sent. Unless there is one, messages are sent again to a destination that
 * was stopped. Call it under the channel's lock.
 */
export function recordTrial(
  { paths, channel, digest, now }: Pick<DestinationOptions, 'paths' | 'channel' | 'digest' | 'now'>,
  problem: Problem | null | undefined,
): void {
  const at = new Date(now()).toISOString();
  const path = stateFile(paths, channel);
  const state = stateOf(path, digest);
  const next: State = {
    ...state,
    ...(problem ? { last_error: { at, ...problem } } : { stopped: null, trouble: NOTHING.trouble }),
    ...(problem === null && { last_success: at }),
  };
  if (JSON.stringify(next) === JSON.stringify(state)) return;
  makeFolder(dirname(path), 0o700);
  writeUnsynced(path, `${JSON.stringify(next)}\n`);
}

function objectAt(path: string): Partial<State> | undefined {
  try {
    const value: unknown = JSON.parse(readIfThere(path, STATE_MAX)?.toString('utf8') ?? '{}');
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Failure) return undefined;
    throw error;
  }
}

function problemOf({ at: _, ...problem }: Problem & { readonly at: string }): Problem {
  return problem;
}

function stateOf(path: string, destination: string): State {
  const value = objectAt(path);
  const fresh = { ...NOTHING, destination };
  if (value?.version !== 1 || value.destination !== destination) return fresh;
  const number = (each: unknown) => (Number.isFinite(each) ? (each as number) : null);
  const pause = (each: Pause | null | undefined): Pause | null =>
    Number.isFinite(each?.from) && Number.isFinite(each?.until) ? (each as Pause) : null;
  const { trouble } = value;
  return {
    ...fresh,
    sent: Array.isArray(value.sent) ? value.sent.filter((each) => Number.isFinite(each)) : [],
    until: number(value.until),
    asked_at: number(value.asked_at),
    rest: pause(value.rest),
    trouble: { count: number(trouble?.count) ?? 0, pause: pause(trouble?.pause) },
    stopped: typeof value.stopped?.problem === 'object' ? value.stopped : null,
    last_success: value.last_success ?? null,
    last_error: value.last_error ?? null,
  };
}
