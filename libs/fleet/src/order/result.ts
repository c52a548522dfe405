/** The result of an order on one server. */
import { jsonObject } from '@runner/common/text/json';
import type { Verb } from './order.ts';

export const STATUSES = [
  'deployed',
  'up_to_date',
  'failed',
  'rolled_back',
  'paused',
  'resumed',
  'held',
  'expired',
  'superseded',
  'clock_skew',
  'refused',
] as const;
export type Status = (typeof STATUSES)[number];

/** The signed JSON. */
export interface Result {
  readonly order: string;
  /** Of the order's text, so that a different order with the same id does not match. */
  readonly digest: string;
  readonly verb: Verb;
  readonly app: string;
  readonly status: Status;
  /** Error code. */
  readonly code: string | null;
  readonly message: string;
  readonly deploy_id: string | null;
  readonly version: string | null;
  readonly previous_version: string | null;
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

const WANTED: Readonly<Record<Verb, readonly Status[]>> = {
  deploy: ['deployed', 'up_to_date'],
  rollback: ['rolled_back', 'up_to_date'],
  hold: ['paused'],
  unhold: ['resumed'],
};

/** Whether the order succeeded. */
export function isDone({ verb, status }: Pick<Result, 'verb' | 'status'>): boolean {
  return WANTED[verb].includes(status);
}

/** Undefined unless the text is a result. */
export function resultOf(body: string): Result | undefined {
  const result = jsonObject(body) as Partial<Result> | undefined;
  const good =
    result && STATUSES.includes(result.status as Status) && typeof result.digest === 'string';
  return good ? (result as Result) : undefined;
}
