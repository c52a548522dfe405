/** Posted messages, as recorded in the state of their destination. */
import type { MessageStep } from '../message/steps.ts';

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
