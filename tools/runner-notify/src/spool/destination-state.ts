/**
 * What is known of a destination, as it lies in `spool/notify/<channel>.json`; changed under the
 * channel's lock alone. It may be lost in a power cut: then nothing is known.
 */
import { dirname } from 'node:path';
import type { ChannelName } from '@runner/common/config/settings';
import { makeFolder, readIfThere } from '@runner/common/files/read';
import { writeUnsynced } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import type { Problem } from '../channels/channel.ts';
import { problemIn } from './entry.ts';
import { stateFile } from './spool.ts';

/** Milliseconds since 1970 that a date can hold: what is beyond them was not written by us. */
const TIME_MAX = 8.64e15;
const EPOCH = new Date(0).toISOString();
/** Bytes; what is written has some hundred. */
const STATE_MAX = 65_536;
/** A pause, in milliseconds since 1970; its length bounds it when the clock is set back. */
export interface Pause {
  readonly from: number;
  readonly until: number;
}

/** The state as it lies on disk. Times are milliseconds since 1970 unless said otherwise. */
export interface State {
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

/** No message has met trouble. */
export const NO_TROUBLE: State['trouble'] = { count: 0, pause: null };

const NOTHING: Omit<State, 'destination'> = {
  version: 1,
  sent: [],
  until: null,
  asked_at: null,
  rest: null,
  trouble: NO_TROUBLE,
  stopped: null,
  last_success: null,
  last_error: null,
};

/** One that cannot be read, or is about other credentials, is an empty one. */
export function readState(paths: Paths, channel: ChannelName, digest: string): State {
  return stateOf(stateFile(paths, channel), digest);
}

/** Throws `not_writable` or `disk_full`. */
export function writeState(paths: Paths, channel: ChannelName, state: State): void {
  const path = stateFile(paths, channel);
  makeFolder(dirname(path), 0o700);
  writeUnsynced(path, `${JSON.stringify(state)}\n`);
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

function stateOf(path: string, destination: string): State {
  const value = objectAt(path);
  const fresh = { ...NOTHING, destination };
  if (value?.version !== 1 || value.destination !== destination) return fresh;
  const number = (each: unknown) =>
    typeof each === 'number' && Math.abs(each) <= TIME_MAX ? each : null;
  const pause = (each: Pause | null | undefined): Pause | null =>
    number(each?.from) !== null && number(each?.until) !== null ? (each as Pause) : null;
  const { trouble } = value;
  const stopped = problemIn(value.stopped?.problem);
  const error = problemIn(value.last_error);
  return {
    ...fresh,
    sent: Array.isArray(value.sent) ? value.sent.filter((each) => number(each) !== null) : [],
    until: number(value.until),
    asked_at: number(value.asked_at),
    rest: pause(value.rest),
    trouble: { count: number(trouble?.count) ?? 0, pause: pause(trouble?.pause) },
    stopped: stopped && { at: timeOf(value.stopped?.at) ?? EPOCH, problem: stopped },
    last_success: timeOf(value.last_success),
    last_error: error && { at: timeOf(value.last_error?.at) ?? EPOCH, ...error },
  };
}

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
