/** What became of an order on one server. */
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

/** The signed text of a server's answer, as JSON. */
export interface Result {
  readonly order: string;
  /** Of the order's text: another order under its id gets no answer for this one. */
  readonly digest: string;
  readonly verb: Verb;
  readonly app: string;
  readonly status: Status;
  /** Code of the refusal or failure. */
  readonly code: string | null;
  readonly message: string;
  readonly deploy_id: string | null;
  readonly version: string | null;
  readonly previous_version: string | null;
  readonly commit: string | null;
  readonly duration_ms: number;
  /** The rollback failed too: it is uncertain what runs. */
  readonly rollback_failed: boolean;
  readonly at: string;
  /** Of results that were carried out: their number on the server, from 1. */
  readonly n: number | null;
  /** Digest of the text of the one before it; 32 zeros in the first. */
  readonly prev: string | null;
}

const WANTED: Readonly<Record<Verb, readonly Status[]>> = {
  deploy: ['deployed', 'up_to_date'],
  rollback: ['rolled_back', 'up_to_date'],
  hold: ['paused'],
  unhold: ['resumed'],
};

/** Whether the order was carried out as wanted. */
export function isDone({ verb, status }: Pick<Result, 'verb' | 'status'>): boolean {
  return WANTED[verb].includes(status);
}

/** Undefined for any other text. */
export function resultOf(body: string): Result | undefined {
  const result = jsonObject(body) as Partial<Result> | undefined;
  const good =
    result && STATUSES.includes(result.status as Status) && typeof result.digest === 'string';
  return good ? (result as Result) : undefined;
}
