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
import { stateFile } from './spool.ts';
import {
  datedProblemIn,
  EPOCH,
  listIn,
  millisecondsIn,
  problemIn,
  readFields,
  type StoredFields,
  textsIn,
  timeIn,
} from './stored.ts';

/** Bytes; the file has a few hundred, with `notify.edit` up to a hundred thousand. */
const STATE_MAX = 1_048_576;

/** A pause, in milliseconds since 1970; its length bounds it when the clock is set back. */
export interface Pause {
  readonly from: number;
  readonly until: number;
}

function pauseIn(value: unknown): Pause | null {
  const { from, until } = (value ?? {}) as Partial<Pause>;
  return millisecondsIn(from) === null || millisecondsIn(until) === null ? null : (value as Pause);
}

/** Each field, empty when it cannot be read. Times are milliseconds since 1970 unless stated otherwise. */
const STATE = {
  /** When recent messages were sent. */
  sent: (value: unknown) =>
    listIn(value).filter((each): each is number => millisecondsIn(each) !== null),
  /** The service asked to be left alone (429) until then. */
  until: millisecondsIn,
  asked_at: millisecondsIn,
  /** The service announced that its rate window is used up. */
  rest: pauseIn,
  /** Temporary problems in a row, and the pause after them. */
  trouble(value: unknown) {
    const { count, pause } = (value ?? {}) as Partial<Record<string, unknown>>;
    return { count: millisecondsIn(count) ?? 0, pause: pauseIn(pause) };
  },
  /** No message is sent until the destination is fixed; `at` is ISO 8601 UTC. */
  stopped(value: unknown) {
    const { at, problem } = (value ?? {}) as Partial<Record<string, unknown>>;
    const found = problemIn(problem);
    return found && { at: timeIn(at) ?? EPOCH, problem: found };
  },
  /** ISO 8601 UTC. */
  last_success: timeIn,
  last_error: datedProblemIn,
  /** Requests that were answered, as requestOf() names them: the process that made them may have been killed since. */
  done: textsIn,
  /** With `notify.edit`, oldest first. */
  messages: (value: unknown) =>
    listIn(value).flatMap((each) => {
      const { id, keys } = (each ?? {}) as Partial<PostedMessage>;
      return typeof id === 'string' ? [{ id, keys: textsIn(keys) }] : [];
    }),
};

/** What is known about a destination. */
export type State = StoredFields<typeof STATE>;

/** No temporary problem. */
export const NO_TROUBLE: State['trouble'] = STATE.trouble(undefined);

/** Empty when it cannot be read, or belongs to other credentials than those with this digest. */
export function readState(paths: Paths, channel: DestinationName, digest: () => string): State {
  const read = () => readTextIfThere(stateFile(paths, channel), STATE_MAX);
  const value = jsonObject(unlessFailure(read, '') ?? '');
  // Without a file the digest, which loads node:crypto, is not needed.
  return readFields(STATE, value?.version === 1 && value.destination === digest() ? value : {});
}

/** `destination` is the digest of the credentials. Throws `not_writable` or `disk_full`. */
export function writeState(
  paths: Paths,
  channel: DestinationName,
  destination: string,
  state: State,
): void {
  const path = stateFile(paths, channel);
  makeFolder(dirname(path), 0o700);
  writeUnsynced(path, `${JSON.stringify({ version: 1, destination, ...state })}\n`);
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
