/**
 * Cleaning records and texts of secrets. The token of an app and the master keys are looked up only
 * for text that may hold one: to open a token takes node:crypto, which an ordinary error does without.
 */
import type { Place, Redact } from './known-secrets.ts';
import { redactor } from './secret.ts';

/** Fields of a record whose values are names, times and numbers: they are left as they are. */
const NAMES = new Set([
  ...['timestamp', 'event_type', 'event', 'project', 'app', 'instance', 'deploy_id', 'commit'],
  ...['trigger', 'duration_ms', 'uid', 'late', 'truncated'],
]);
/** Values further down are left as they are: a walk has to end. */
const DEPTH = 64;

/** A copy of the record whose texts have gone through `redact`; itself when that changed none. */
export function cleanRecord<T extends Readonly<Record<string, unknown>>>(
  record: T,
  redact: Redact,
): T {
  const entries = Object.entries(record);
  let changed = false;
  for (const entry of entries) {
    if (NAMES.has(entry[0])) continue;
    const clean = cleanValue(entry[1], redact, DEPTH);
    changed ||= clean !== entry[1];
    entry[1] = clean;
  }
  return changed ? (Object.fromEntries(entries) as T) : record;
}

function cleanValue(value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === 'string') return redact(value);
  if (value === null || typeof value !== 'object' || depth === 0) return value;
  const inner = (each: unknown) => cleanValue(each, redact, depth - 1);
  if (Array.isArray(value)) {
    const clean = value.map(inner);
    return clean.some((each, index) => each !== value[index]) ? clean : value;
  }
  const entries = Object.entries(value).map(([field, each]) => [field, inner(each), each] as const);
  return entries.some(([, clean, each]) => clean !== each) ? Object.fromEntries(entries) : value;
}

/** Whether a text of the record may hold a token that no shape tells. */
export function recordMayHoldToken(record: Readonly<Record<string, unknown>>): boolean {
  let may = false;
  cleanRecord(record, (text) => {
    may ||= mayHoldToken(text);
    return text;
  });
  return may;
}

/**
 * Whether a word could be a token: 12 or more characters with a letter and a digit, or 24 or more.
 * The short name of a commit and the day of a timestamp are none.
 */
export function mayHoldToken(text: string): boolean {
  if (text.length < 12) return false;
  for (const [word] of text.matchAll(/[\w-]{12,}/g)) {
    if (word.length < 24 && !(/\d/.test(word) && /[A-Za-z]/.test(word))) continue;
    if (!/^(?:[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d)$/.test(word)) return true;
  }
  return false;
}

/**
 * Cleans text of what has the shape of a secret and, where `may` says so, of the app's token and the
 * master keys as well, as far as they can be read.
 */
export async function redactorFor(may: boolean, place: Place, app: unknown): Promise<Redact> {
  if (!may) return redactor();
  const { knownRedactor } = await import('./known-secrets.ts');
  return knownRedactor(place, app);
}
