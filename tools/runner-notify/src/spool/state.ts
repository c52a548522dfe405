/**
 * The state of a destination in `spool/notify/<channel>.json`; changed only under the channel's lock. A
 * power cut may lose it: then it starts empty.
 */
import { dirname } from 'node:path';
import type { DestinationName } from '@runner/common/config/channels';
import { makeFolder, readTextIfThere } from '@runner/common/files/read';
import { writeUnsynced } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import type { MessageStep } from '../message/steps.ts';
import type { ServiceProblem } from '../service/contract.ts';
import { problemIn } from './entry.ts';
import { stateFile } from './spool.ts';

/** The largest time of a Date, in milliseconds since 1970. */
const TIME_MAX = 8.64e15;
const EPOCH = new Date(0).toISOString();
/** Bytes; the file has a few hundred, with `notify.edit` up to a hundred thousand. */
const STATE_MAX = 1_048_576;
/** A pause, in milliseconds since 1970; its length bounds it when the clock is set back. */
export interface Pause {
  readonly from: number;
  readonly until: number;
}

/** Times are milliseconds since 1970 unless stated otherwise. */
export interface State {
  /** When recent messages were sent. */
  readonly sent: readonly number[];
  /** The service asked to be left alone (429) until then. */
  readonly until: number | null;
  readonly asked_at: number | null;
  /** The service announced that its rate window is used up. */
  readonly rest: Pause | null;
  /** Temporary problems in a row, and the pause after them. */
  readonly trouble: { readonly count: number; readonly pause: Pause | null };
  /** No message is sent until the destination is fixed. */
  readonly stopped: { readonly at: string; readonly problem: ServiceProblem } | null;
  /** ISO 8601 UTC. */
  readonly last_success: string | null;
  readonly last_error: (ServiceProblem & { readonly at: string }) | null;
  /** Requests that were answered, as requestOf() names them: the process that made them may have been killed since. */
  readonly done: readonly string[];
  /** With `notify.edit`, oldest first. */
  readonly messages: readonly PostedMessage[];
}

/** No temporary problem. */
export const NO_TROUBLE: State['trouble'] = { count: 0, pause: null };

interface StateFile extends State {
  readonly version: 1;
  /** Digest of the credentials to which the rest belongs. */
  readonly destination: string;
}

const NOTHING: State = {
  sent: [],
  until: null,
  asked_at: null,
  rest: null,
  trouble: NO_TROUBLE,
  stopped: null,
  last_success: null,
  last_error: null,
  done: [],
  messages: [],
};

/** Empty when it cannot be read, or belongs to other credentials than those with this digest. */
export function readState(paths: Paths, channel: DestinationName, digest: () => string): State {
  const read = () => readTextIfThere(stateFile(paths, channel), STATE_MAX);
  const value: Partial<StateFile> | undefined = jsonObject(unlessFailure(read, '') ?? '');
  // Without a file the digest, which loads node:crypto, is not needed.
  return value?.version === 1 && value.destination === digest() ? stateOf(value) : NOTHING;
}

/** Throws `not_writable` or `disk_full`. */
export function writeState(
  paths: Paths,
  channel: DestinationName,
  destination: string,
  state: State,
): void {
  const path = stateFile(paths, channel);
  makeFolder(dirname(path), 0o700);
  const file: StateFile = { version: 1, destination, ...state };
  writeUnsynced(path, `${JSON.stringify(file)}\n`);
}

function stateOf(value: Partial<StateFile>): State {
  const number = (each: unknown) =>
    typeof each === 'number' && Math.abs(each) <= TIME_MAX ? each : null;
  const pause = (each: Pause | null | undefined): Pause | null =>
    number(each?.from) !== null && number(each?.until) !== null ? (each as Pause) : null;
  const { trouble } = value;
  const stopped = problemIn(value.stopped?.problem);
  const error = problemIn(value.last_error);
  return {
    sent: Array.isArray(value.sent) ? value.sent.filter((each) => number(each) !== null) : [],
    until: number(value.until),
    asked_at: number(value.asked_at),
    rest: pause(value.rest),
    trouble: { count: number(trouble?.count) ?? 0, pause: pause(trouble?.pause) },
    stopped: stopped && { at: timeOf(value.stopped?.at) ?? EPOCH, problem: stopped },
    last_success: timeOf(value.last_success),
    last_error: error && { at: timeOf(value.last_error?.at) ?? EPOCH, ...error },
    done: textsOf(value.done),
    messages: (Array.isArray(value.messages) ? value.messages : []).flatMap((each) => {
      const { id, keys } = (each ?? {}) as Partial<PostedMessage>;
      return typeof id === 'string' ? [{ id, keys: textsOf(keys) }] : [];
    }),
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** A message that later ones may edit or answer. */
export interface PostedMessage {
  readonly id: string;
  readonly keys: readonly string[];
}

/** How many messages are kept: enough for this many simultaneous deploys. */
const MESSAGES_MAX = 200;
/** How many completed requests are kept: a killed deploy's last event is sent again soon after. */
const DONE_MAX = 100;

/** The newest of both, as the state keeps them. */
export function bounded(done: readonly string[], messages: readonly PostedMessage[]) {
  return { done: done.slice(-DONE_MAX), messages: messages.slice(-MESSAGES_MAX) };
}

/** The messages that are known after a step; `id` of the one that shows it. */
export function messagesAfter(
  before: readonly PostedMessage[],
  step: MessageStep | undefined,
  id: string | undefined,
): readonly PostedMessage[] {
  const { keys = [], adds, ends } = step ?? {};
  if (keys.length === 0 && adds === undefined && ends === undefined) return before;
  const isOld = (key: string) => key === ends || key === adds || keys.includes(key);
  const kept = before
    // A message that another attempt has taken over no longer belongs to the earlier attempt.
    .filter((each) => keys.length === 0 || each.id !== id)
    .map((each) => ({ ...each, keys: each.keys.filter((key) => !isOld(key)) }))
    .filter((each) => each.keys.length > 0);
  const known = kept.find((each) => each.id === id)?.keys ?? [];
  const all = [...known, ...keys, ...(adds === undefined ? [] : [adds])];
  return id && all.length > known.length
    ? [...kept.filter((each) => each.id !== id), { id, keys: all }]
    : kept;
}
