/** Finds base64 in a line and decides whether it may belong to a private key. */

/** Fewest characters of base64 in the first line of a key, and in one after foreign lines. */
export const FIRST_MIN = 8;
export const AGAIN_MIN = 20;
/** The same after words that the key's first line did not have. */
export const FOREIGN_MIN = 32;
/** Most characters after the base64 of a line: quotes, brackets, bars. */
const BEHIND_MAX = 24;

/** A line break or a sign of base64, escaped as in string literals. */
const ESCAPED = /\\{1,8}(?:[nrt]|u00(?:0[ad]|2[bf]|3d)|x0[ad]|\/)|&#1[03];/gi;

/** Whether the text has more than quotes and brackets. */
export function saysMore(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.replace(ESCAPED, ''));
}

/**
 * The width of the base64 in a line of a key, at least `least`; else 0. A short one may be a word, so
 * it must look like base64 unless a key is already certain.
 */
export function widthOf(text: string, least: number): number {
  let from = 0;
  while (from < BEHIND_MAX * 4 && /^[\s"'`([{<|\u2502]$/.test(text.charAt(from))) from += 1;
  const first = base64End(text, from);
  const width = first - from;
  if (width < least || width === 0) return 0;
  const word = text.slice(from, Math.min(first, from + 80));
  const likely = least === FIRST_MIN ? isLikely(word) : isMixed(word);
  if (least > 1 && !likely) return 0;
  const end = bodyEnd(text, from, AGAIN_MIN);
  const rest = text.slice(end).replace(ESCAPED, '');
  return rest.length <= BEHIND_MAX && /^[\s"'`,;:.)}\]>+\\|\u2502]*$/.test(rest) ? width : 0;
}

/** Whether a word may begin a key: not a number, a hash or a short name. */
function isLikely(word: string): boolean {
  return word.length < 2 * FIRST_MIN
    ? /[a-z]/.test(word) && /[A-Z]/.test(word)
    : !/^[0-9a-f]*$/.test(word);
}

/** Whether a word has both cases and, unless it is long, a digit or sign, unlike a name, a number or a hash. */
export function isMixed(word: string): boolean {
  const hasCases = /[a-z]/.test(word) && /[A-Z]/.test(word);
  return hasCases && (word.length >= FOREIGN_MIN || /[0-9+/=]/.test(word));
}

/**
 * Where the base64 ends that begins at `from` or after quotes and line breaks there. After an escaped
 * line break any word continues it; after a space, one of at least `least` characters.
 */
export function bodyEnd(text: string, from: number, least: number): number {
  let end = from;
  const between = /(?:\\{1,8}(?:[nrt]|u00(?:0[ad]|2[bf]|3d)|x0[ad]|\/)|&#1[03];)|[\s"'`]/giy;
  for (let at = from; ; ) {
    let broken = at === from && isBase64(text.charCodeAt(at));
    for (between.lastIndex = at; between.test(text); at = between.lastIndex) {
      broken ||= between.lastIndex - at > 1;
    }
    const stop = base64End(text, at);
    if (stop === at || (!broken && stop - at < least)) return end;
    end = stop;
    at = stop;
  }
}

/** The text without a last word of base64: the end of a key whose beginning is missing. */
export function withoutLastWord(text: string): string {
  const start = lastWord(text);
  return widthOf(text.slice(start), AGAIN_MIN) > 0 ? text.slice(0, start) : text;
}

/** Where the last word of a line begins. */
export function lastWord(text: string): number {
  const end = text.trimEnd();
  return Math.max(end.lastIndexOf(' '), end.lastIndexOf('\t')) + 1;
}

/** Where the base64 at `from` ends; `from` without any. */
export function base64End(text: string, from: number): number {
  let end = from;
  while (isBase64(text.charCodeAt(end))) end += 1;
  return end;
}

/** Letters, digits, `+`, `/`, `=`; false for NaN, after the end. */
export function isBase64(unit: number): boolean {
  return (
    (unit >= 97 && unit <= 122) ||
    (unit >= 65 && unit <= 90) ||
    (unit >= 47 && unit <= 57) ||
    unit === 43 ||
    unit === 61
  );
}
