/** The result of an order on one server. */
import * as f from './fields.ts';
import { type OrderVerb, VERBS } from './order.ts';

export const STATUSES = [
  'deployed',
  'up_to_date',
  'failed',
  'rolled_back',
  'paused',
  'resumed',
  'approved',
  'held',
  'expired',
  'superseded',
  'clock_skew',
  'refused',
] as const;
export type OrderStatus = (typeof STATUSES)[number];

/** Code of a good result: the watch of the release could not be judged. */
export const NOT_JUDGED = 'not_judged';

/** Longer than any deploy, in ms. */
const DURATION_MAX = 30 * 24 * 3_600_000;

/** The signed JSON. */
export const resultField = f.object({
  order: f.orderIdField,
  /** Of the order's text, so that a different order with the same id does not match. */
  digest: f.digestField,
  verb: f.oneOf(...VERBS),
  app: f.appField,
  status: f.oneOf(...STATUSES),
  /** Error code, or NOT_JUDGED. */
  code: f.nullable(f.codeField),
  message: f.sentence,
  deploy_id: f.nullable(f.matching(/^[\w-]{8}$/, 'the id of a deploy')),
  version: f.nullable(f.versionField),
  previous_version: f.nullable(f.versionField),
  /** After a bad watch: the version that is active now; not every agent says it. */
  runs: f.optional(f.nullable(f.versionField)),
  commit: f.nullable(f.commitField),
  duration_ms: f.whole(0, DURATION_MAX),
  /** The rollback failed too: what runs now is unknown. */
  rollback_failed: f.flag,
  at: f.timeField,
  /** Sequence number on the server, from 1; null if the order was not carried out. */
  n: f.nullable(f.whole(1)),
  /** Digest of the previous result's text; 32 zeros in the first. */
  prev: f.nullable(f.digestField),
});
export type OrderResult = f.ValueOf<typeof resultField>;

const WANTED: Readonly<Record<OrderVerb, readonly OrderStatus[]>> = {
  deploy: ['deployed', 'up_to_date'],
  rollback: ['rolled_back', 'up_to_date'],
  hold: ['paused'],
  unhold: ['resumed'],
  approve: ['approved'],
};

/** Whether the order succeeded. */
export function isDone({ verb, status }: Pick<OrderResult, 'verb' | 'status'>): boolean {
  return WANTED[verb].includes(status);
}

/** A result that this server sealed itself; undefined if the text is not one. */
export const resultOf = (body: string): OrderResult | undefined => f.parsedValue(body, resultField);
