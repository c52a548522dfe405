/** An operator's order to one or more servers. The signed text is kept unchanged. */
import { isPlanId } from '@runner/common/apps/plans';
import { OPERATOR_NAME, SERVER_NAME } from '../files/names.ts';
import {
  appField,
  type FieldReader,
  list,
  matching,
  object,
  oneOf,
  optional,
  orderIdField,
  parsedValue,
  text,
  timeField,
  whole,
} from './fields.ts';

export const VERBS = ['deploy', 'rollback', 'hold', 'unhold', 'approve'] as const;
export type OrderVerb = (typeof VERBS)[number];

/** What supersedes each other: what runs an app, what pauses it; an approval is of its own plan. */
export const classOf = (verb: OrderVerb) =>
  verb === 'approve' ? 'approve' : verb === 'hold' || verb === 'unhold' ? 'hold' : 'run';
/** Whether it runs nothing: sent without batches. */
export const isHold = (verb: OrderVerb) => classOf(verb) !== 'run';

/** The signed JSON. Contains no command line. */
export interface Order {
  readonly id: string;
  readonly verb: OrderVerb;
  readonly app: string;
  /** deploy: the full commit. rollback: a version, or empty for the previous one. approve: a plan. */
  readonly ref: string;
  readonly servers: readonly string[];
  readonly issued: string;
  /** The server does not start the order after this time. */
  readonly deadline: string;
  readonly max_parallel: number;
  readonly reason: string;
  /** rollback: the version, although the database has changed since. An agent that does not know it refuses. */
  readonly accept_schema?: string | undefined;
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

/** Characters. */
export const REASON_MAX = 200;
/** Whether it is a commit in full. */
export const isCommit = (ref: string) => /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(ref);

/** Of the signed JSON, in characters. */
const ORDER_MAX = 65_536;

export const serverField = matching(SERVER_NAME, 'the name of a server');

const versionField = matching(/^(?!-)[^\x00-\x1f\x7f]{0,200}$/, 'a commit or version');

const orderField: FieldReader<Order> = object<Order>({
  id: orderIdField,
  verb: oneOf(...VERBS),
  app: appField,
  ref: versionField,
  servers: list(serverField, 10_000),
  issued: timeField,
  deadline: timeField,
  max_parallel: whole(0, 1_000),
  reason: text(REASON_MAX),
  accept_schema: optional(versionField),
});

/** Undefined unless every field is valid. */
export function orderOf(body: string): Order | undefined {
  const order = body.length > ORDER_MAX ? undefined : parsedValue(body, orderField);
  if (!order || order.servers.length === 0) return undefined;
  const { verb, ref, issued, deadline } = order;
  const isGood =
    (verb !== 'deploy' || isCommit(ref)) &&
    (verb !== 'approve' || isPlanId(ref)) &&
    Date.parse(deadline) - Date.parse(issued) <= DEADLINE_MAX;
  return isGood ? order : undefined;
}

export const sealedOrderField: FieldReader<SealedOrder> = object({
  by: matching(OPERATOR_NAME, 'the name of an operator'),
  sig: text(ORDER_MAX),
  body: text(ORDER_MAX),
});

/** Undefined unless the text is a sealed order. */
export function sealedOf(line: string): SealedOrder | undefined {
  const sealed = parsedValue(line, sealedOrderField);
  return sealed && orderOf(sealed.body) ? sealed : undefined;
}
