/**
 * JSON that survives being read and written again: a number that JavaScript cannot hold becomes a
 * text while it is in memory. It is a field that we do not know, else its own check refuses the text.
 */

/** Begins no text that anybody would write. */
const MARK = '\u0000exact:';

const NUMBER = '-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
const TOKENS = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${NUMBER}`, 'g');
const MARKED = new RegExp(`"\\\\u0000exact:(${NUMBER})"`, 'g');

/** Like `JSON.parse`; numbers beyond 2^53 keep their digits for `exactText`. Throws its SyntaxError. */
export function parseExact(text: string): unknown {
  // Nearly no file has any: only a value of many digits or with an exponent can be one.
  if (!/[:,[]\s*-?(?:\d{16}|\d+(?:\.\d+)?e)/i.test(text)) return JSON.parse(text);
  return JSON.parse(
    text.replace(TOKENS, (token) =>
      token.startsWith('"') || Math.abs(Number(token)) <= Number.MAX_SAFE_INTEGER
        ? token
        : JSON.stringify(MARK + token),
    ),
  );
}

/** Like `JSON.stringify` with two spaces, for what `parseExact` has read. */
export function exactText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(MARKED, '$1');
}
