/** Objects in files of the spool, which may be damaged: each field is read on its own. */
import type { ServiceProblem } from '../service/contract.ts';

type Readers = Readonly<Record<string, (value: unknown) => unknown>>;
/** What was read. */
export type StoredFields<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> };

/** The fields of an object; with none what each reader returns for undefined. */
export function readFields<R extends Readers>(readers: R, from: object): StoredFields<R> {
  const values: Readonly<Record<string, unknown>> = { ...from };
  const fields = Object.entries(readers).map(([name, read]) => [name, read(values[name])]);
  return Object.fromEntries(fields) as StoredFields<R>;
}

/** The largest time of a Date, in milliseconds since 1970. */
const TIME_MAX = 8.64e15;
/** Stands for a time that cannot be read. */
export const EPOCH = new Date(0).toISOString();

/** Milliseconds since 1970. */
export function millisecondsIn(value: unknown): number | null {
  return typeof value === 'number' && Math.abs(value) <= TIME_MAX ? value : null;
}

export function countIn(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

/** ISO 8601 UTC. */
export function timeIn(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textsIn(value: unknown): readonly string[] {
  return listIn(value).filter((each) => typeof each === 'string');
}

export function problemIn(value: unknown): ServiceProblem | null {
  if (value === null || typeof value !== 'object') return null;
  const { method, http_status, code, description, retryable, hint } =
    value as Partial<ServiceProblem>;
  return {
    method: String(method ?? ''),
    http_status: typeof http_status === 'number' ? http_status : null,
    code: typeof code === 'number' ? code : String(code ?? ''),
    description: String(description ?? ''),
    retryable: retryable === true,
    hint: typeof hint === 'string' ? hint : undefined,
  };
}

/** A problem, and when it happened. */
export function datedProblemIn(value: unknown): (ServiceProblem & { readonly at: string }) | null {
  const problem = problemIn(value);
  if (!problem) return null;
  return { at: timeIn((value as { at?: unknown }).at) ?? EPOCH, ...problem };
}
