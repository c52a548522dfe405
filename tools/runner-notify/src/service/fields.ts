/** JSON of which nothing is known for sure. */

/** A JSON object, of which any field may be missing or of another type. */
export type Fields = Readonly<Record<string, unknown>>;

/** An object of an answer; empty when it is none. */
export function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

/** A text of an answer; a number as its digits, else empty. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
