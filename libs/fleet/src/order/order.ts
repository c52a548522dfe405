/** An operator's order to one or more servers. The signed text is kept unchanged. */
import { isAppName } from '@runner/common/foundation/names';
import { jsonObject } from '@runner/common/text/json';
import { timeOfIso } from '@runner/common/text/time';
import { isOperatorName, isServerName } from '../files/names.ts';

export const VERBS = ['deploy', 'rollback', 'hold', 'unhold'] as const;
export type Verb = (typeof VERBS)[number];

/** Whether it pauses or resumes an app: sent without batches, and never superseded by a deploy. */
export const isHold = (verb: Verb) => verb === 'hold' || verb === 'unhold';

/** The signed JSON. Contains no command line. */
export interface Order {
  readonly id: string;
  readonly verb: Verb;
  readonly app: string;
  /** deploy: the full commit. rollback: a version, or empty for the previous one. */
  readonly ref: string;
  readonly servers: readonly string[];
  readonly issued: string;
  /** The server does not start the order after this time. */
  readonly deadline: string;
  readonly max_parallel: number;
  readonly reason: string;
}

/** An order with its operator's signature. */
export interface SealedOrder {
  readonly by: string;
  readonly sig: string;
  /** The exact text that was signed. */
  readonly body: string;
}

/** Longest time from issue to deadline, in ms. */
export const DEADLINE_MAX = 7 * 24 * 3_600_000;

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && !Number.isNaN(timeOfIso(value));
/** Characters. */
export const REASON_MAX = 200;
const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= REASON_MAX;
/** Whether it is a commit in full. */
export const isCommit = (ref: string) => /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(ref);

/** Undefined unless every field is valid. */
export function orderOf(body: string): Order | undefined {
  const order = jsonObject(body) as Partial<Order> | undefined;
  if (!order || body.length > 65_536) return undefined;
  const { id, verb, app, ref, servers, issued, deadline, max_parallel: parallel, reason } = order;
  const good =
    /^r-[0-9a-f]{8}$/.test(String(id)) &&
    VERBS.includes(verb as Verb) &&
    isShort(app) &&
    isAppName(app) &&
    isShort(ref) &&
    (verb === 'deploy' ? isCommit(ref) : !ref.startsWith('-')) &&
    Array.isArray(servers) &&
    servers.length > 0 &&
    servers.every((each) => isServerName(String(each))) &&
    isTime(issued) &&
    isTime(deadline) &&
    timeOfIso(deadline) - timeOfIso(issued) <= DEADLINE_MAX &&
    Number.isSafeInteger(parallel) &&
    isShort(reason);
  return good ? (order as Order) : undefined;
}

/** Undefined unless the text is a sealed order. */
export function sealedOf(text: string): SealedOrder | undefined {
  const { by, sig, body } = jsonObject(text) ?? {};
  if (typeof by !== 'string' || typeof sig !== 'string' || typeof body !== 'string')
    return undefined;
  return isOperatorName(by) && orderOf(body) ? { by, sig, body } : undefined;
}
