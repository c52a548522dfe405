/** An operator's order to one or more servers. The signed text is kept unchanged. */
import { isPlanId } from '@runner/common/apps/plans';
import { OPERATOR_NAME, SERVER_NAME } from '../files/names.ts';
import * as f from './fields.ts';

export const VERBS = ['deploy', 'rollback', 'hold', 'unhold', 'approve'] as const;
export type OrderVerb = (typeof VERBS)[number];

/** What supersedes each other: what runs an app, what pauses it; an approval is of its own plan. */
export const classOf = (verb: OrderVerb) =>
  verb === 'approve' ? 'approve' : verb === 'hold' || verb === 'unhold' ? 'hold' : 'run';
/** Whether it runs nothing: sent without batches. */
export const isHold = (verb: OrderVerb) => classOf(verb) !== 'run';

/** Longest time from issue to deadline, in ms. */
export const DEADLINE_MAX = 7 * 24 * 3_600_000;

/** Characters. */
export const REASON_MAX = 200;
/** Whether it is a commit in full. */
export const isCommit = (ref: string) => /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(ref);

/** Of the signed JSON, in characters. */
const ORDER_MAX = 65_536;

export const serverField = f.matching(SERVER_NAME, 'the name of a server');

const versionField = f.matching(/^(?!-)[^\x00-\x1f\x7f]{0,200}$/, 'a commit or version');

/** The signed JSON. Contains no command line. */
const orderField = f.object({
  id: f.orderIdField,
  verb: f.oneOf(...VERBS),
  app: f.appField,
  /** deploy: the full commit. rollback: a version, or empty for the previous one. approve: a plan. */
  ref: versionField,
  servers: f.list(serverField, 10_000),
  issued: f.timeField,
  /** The server does not start the order after this time. */
  deadline: f.timeField,
  max_parallel: f.whole(0, 1_000),
  reason: f.text(REASON_MAX),
  /** rollback: the version, although the database has changed since. An agent that does not know it refuses. */
  accept_schema: f.optional(versionField),
  /** rollback to the previous version: the orders that this one continues, so that no server goes back twice. */
  resumes: f.optional(f.list(f.orderIdField, 1_000)),
});
export type Order = f.ValueOf<typeof orderField>;

/** Undefined unless every field is valid. */
export function orderOf(body: string): Order | undefined {
  const order = body.length > ORDER_MAX ? undefined : f.parsedValue(body, orderField);
  if (!order || order.servers.length === 0) return undefined;
  const { verb, ref, issued, deadline } = order;
  const isGood =
    (verb !== 'deploy' || isCommit(ref)) &&
    (verb !== 'approve' || isPlanId(ref)) &&
    Date.parse(deadline) - Date.parse(issued) <= DEADLINE_MAX;
  return isGood ? order : undefined;
}

/** An order with its operator's signature. */
export const sealedOrderField = f.object({
  by: f.matching(OPERATOR_NAME, 'the name of an operator'),
  sig: f.text(ORDER_MAX),
  /** The exact text that was signed. */
  body: f.text(ORDER_MAX),
});
export type SealedOrder = f.ValueOf<typeof sealedOrderField>;

/** Undefined unless the text is a sealed order. */
export function sealedOf(line: string): SealedOrder | undefined {
  const sealed = f.parsedValue(line, sealedOrderField);
  return sealed && orderOf(sealed.body) ? sealed : undefined;
}
