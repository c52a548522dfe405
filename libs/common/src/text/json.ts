/** JSON that another program may have written. */
import { orElse } from '../foundation/attempt.ts';

/** A JSON object, of which any field may be missing or of another type. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Before a number, in a text that stands for it; no other text can have it. */
const MARK = `number ${Math.random().toString(36).slice(2)} `;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const MARKED = new RegExp(`^${MARK}${NUMBER}$`);
/** Outside of a text: a number that those of JavaScript may change, as it is long or has a large exponent. */
const ODD_NUMBER = /(?:^|[\s:,[])-?(?:[\d.]{16}|[\d.]+[eE][+-]?\d{3})/;
/** Quotes, escapes, and numbers that are no part of something else; no whole text, which may exhaust the engine's stack. */
const TOKENS = new RegExp(
  String.raw`(?:\\.){1,99}|"|(?<![\w.+-])${NUMBER}(?=\s*(?:[,\]}]|$))`,
  'gs',
);
/** A longer number stays as it was written, in any case. */
const NUMBER_MAX = 40;

/** Levels of arrays and objects; a record of runner has three. Deeper ones could exhaust the stack of what walks them. */
const DEPTH_MAX = 100;
/** Brackets enough for more levels, with those that close them; most texts have fewer and need no closer look. */
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

/** A number that those of JavaScript would change, as it was written. */
class ExactNumber {
  readonly written: string;

  constructor(written: string) {
    this.written = written;
  }

  toJSON(): string {
    return `${MARK}${this.written}`;
  }
}

/** A number kept as it was written becomes one of JavaScript, which may be another. */
export function rounded<T>(value: T): T | number {
  return value instanceof ExactNumber ? Number(value.written) : value;
}

/** Whether JavaScript prints the same number: a fraction perhaps in another way, an integer in all digits. */
function isKept(number: string): boolean {
  if (/^-?\d+$/.test(number)) return String(Number(number)) === number;
  return number.length <= NUMBER_MAX && canonical(String(Number(number))) === canonical(number);
}

/** The same for each way to write a number: `-12e-1` of `-1.20`; undefined of `Infinity`. */
function canonical(number: string): string | undefined {
  const parts = /^(-?)(\d+)\.?(\d*)(?:[eE]\+?(-?\d+))?$/.exec(number);
  if (!parts) return undefined;
  const [, sign, whole, fraction = '', power = '0'] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  const exponent = Number(power) - fraction.length + digits.length - short.length;
  return short === '' ? '0' : `${sign}${short}e${exponent}`;
}

/**
 * Reads JSON, with numbers of any length and size; `withExactNumbers` writes them. Throws a SyntaxError, and a
 * RangeError if it is nested deeper than 100 levels.
 */
export function parseJson(text: string): unknown {
  const isLong = text.length > 2 * DEPTH_MAX;
  if (isLong && MANY_BRACKETS.test(text) && isDeep(JSON.parse(text)))
    throw new RangeError(`it is nested deeper than ${DEPTH_MAX} levels`);
  if (!ODD_NUMBER.test(text)) return JSON.parse(text);
  let isInText = false;
  const marked = text.replace(TOKENS, (token) => {
    if (token === '"') isInText = !isInText;
    const isOdd = !isInText && /^-?\d/.test(token) && !isKept(token);
    return isOdd ? `"${MARK}${token}"` : token;
  });
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(MARK)
      ? new ExactNumber(value.slice(MARK.length))
      : value,
  );
}

/** The output of JSON.stringify with numbers as they were read. */
export function withExactNumbers(json: string): string {
  if (!json.includes(MARK)) return json;
  return json.replace(new RegExp(`"${MARK}(${NUMBER})"`, 'g'), '$1');
}

/** The output of JSON.stringify as plain data, with long integers as BigInt and other odd numbers as text. */
export function plainData(json: string): unknown {
  if (!json.includes(MARK)) return JSON.parse(json);
  return JSON.parse(json, (_, value) => {
    if (typeof value !== 'string' || !MARKED.test(value)) return value;
    const number = value.slice(MARK.length);
    return /^-?\d+$/.test(number) ? BigInt(number) : number;
  });
}

/** Undefined when the text is not a JSON object, or is nested deeper than 100 levels. */
export function jsonObject(text: string): JsonObject | undefined {
  // An error of JSON.parse costs as much as reading a hundred lines.
  if (!/^\s*\{/.test(text)) return undefined;
  return orElse(() => parseJson(text) as JsonObject, undefined);
}
