/** JSON that another program may have written. */
import { orElse } from '../foundation/attempt.ts';

/** A JSON object, of which any field may be missing or of another type. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Undefined when the text is not a JSON object. */
export function jsonObject(text: string): JsonObject | undefined {
  // An error of JSON.parse costs as much as reading a hundred lines.
  if (!/^\s*\{/.test(text)) return undefined;
  return orElse(() => JSON.parse(text) as JsonObject, undefined);
}
