/** JSON that another program may have written. */
import { orElse } from '../foundation/attempt.ts';

/** A JSON object, of which any field may be missing or of another type. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Before the digits of an integer, in a text that stands for it; no other text can have it. */
const MARK = `integer ${Math.random().toString(36).slice(2)} `;
const MARKED = new RegExp(`^${MARK}-?\\d+$`);
/** Outside of a text: digits enough for an integer that a number of JavaScript may change. */
const LONG_NUMBER = /(?:^|[\s:,[])-?\d{16}/;
/** Texts, which stay as they are, and long integers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** Levels of arrays and objects; a record of runner has three. Deeper ones could exhaust the stack of what walks them. */
const DEPTH_MAX = 100;
/** Brackets enough for more levels; most texts have fewer and need no closer look. */
const MANY_BRACKETS = new RegExp(`^(?:[^[{]*[[{]){${DEPTH_MAX + 1}}`);

/** Looks level by level: a recursion would itself end with the stack. */
function isDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return true;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}

/** An integer over 2^53 or under -2^53, as it was written. */
class LongInteger {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toJSON(): string {
    return `${MARK}${this.digits}`;
  }
}

/**
 * Reads JSON, with integers of any length; `withLongIntegers` writes them. Throws a SyntaxError, and a
 * RangeError if it is nested deeper than 100 levels.
 */
export function parseJson(text: string): unknown {
  if (MANY_BRACKETS.test(text) && isDeep(JSON.parse(text)))
    throw new RangeError(`it is nested deeper than ${DEPTH_MAX} levels`);
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK)
      ? new LongInteger(value.slice(MARK.length))
      : value,
  );
}

/** The output of JSON.stringify with long integers as they were read. */
export function withLongIntegers(json: string): string {
  if (!json.includes(MARK)) return json;
  return json.replace(new RegExp(`"${MARK}(-?\\d+)"`, 'g'), '$1');
}

/** The output of JSON.stringify as plain data, with long integers as BigInt. */
export function plainData(json: string): unknown {
  if (!json.includes(MARK)) return JSON.parse(json);
  return JSON.parse(json, (_, value) =>
    typeof value === 'string' && MARKED.test(value) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** Undefined when the text is not a JSON object, or is nested deeper than 100 levels. */
export function jsonObject(text: string): JsonObject | undefined {
  // An error of JSON.parse costs as much as reading a hundred lines.
  if (!/^\s*\{/.test(text)) return undefined;
  return orElse(() => parseJson(text) as JsonObject, undefined);
}
