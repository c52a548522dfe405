/** The result of an order on one server. */
import {
  appField,
  codeField,
  commitField,
  digestField,
  type FieldReader,
  flag,
  matching,
  nullable,
  object,
  oneOf,
  optional,
  orderIdField,
  parsedValue,
  sentence,
  timeField,
  versionField,
  whole,
} from './fields.ts';
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

/** The signed JSON. */
export interface OrderResult {
  readonly order: string;
  /** Of the order's text, so that a different order with the same id does not match. */
  readonly digest: string;
  readonly verb: OrderVerb;
  readonly app: string;
  readonly status: OrderStatus;
  /** Error code, or NOT_JUDGED. */
  readonly code: string | null;
  readonly message: string;
  readonly deploy_id: string | null;
  readonly version: string | null;
  readonly previous_version: string | null;
  /** After a bad watch: the version that is active now; not every agent says it. */
  readonly runs?: string | null | undefined;
  readonly commit: string | null;
  readonly duration_ms: number;
  /** The rollback failed too: what runs now is unknown. */
  readonly rollback_failed: boolean;
  readonly at: string;
  /** Sequence number on the server, from 1; null if the order was not carried out. */
  readonly n: number | null;
  /** Digest of the previous result's text; 32 zeros in the first. */
  readonly prev: string | null;
}

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

/** Longer than any deploy, in ms. */
const DURATION_MAX = 30 * 24 * 3_600_000;

export const resultField: FieldReader<OrderResult> = object({
  order: orderIdField,
  digest: digestField,
  verb: oneOf(...VERBS),
  app: appField,
  status: oneOf(...STATUSES),
  code: nullable(codeField),
  message: sentence,
  deploy_id: nullable(matching(/^[\w-]{8}$/, 'the id of a deploy')),
  version: nullable(versionField),
  previous_version: nullable(versionField),
  runs: optional(nullable(versionField)),
  commit: nullable(commitField),
  duration_ms: whole(0, DURATION_MAX),
  rollback_failed: flag,
  at: timeField,
  n: nullable(whole(1)),
  prev: nullable(digestField),
});

/** A result that this server sealed itself; undefined if the text is not one. */
export const resultOf = (body: string): OrderResult | undefined => parsedValue(body, resultField);
