/** What of a line is base64, and whether it may be of a private key. */

/** Characters of base64 that a line of a key has at least: its first one, one behind other lines. */
export const FIRST_MIN = 8;
export const AGAIN_MIN = 20;
/** The same behind words that its first line did not have. */
export const FOREIGN_MIN = 32;
/** What may stand behind the base64 of a line: quotes, brackets, bars. */
const BEHIND_MAX = 24;

/** A line break, and signs of base64, as string literals of many languages write them. */
const ESCAPED = /\\{1,8}(?:[nrt]|u00(?:0[ad]|2[bf]|3d)|x0[ad]|\/)|&#1[03];/gi;

/** Whether something is said there, beside quotes and brackets. */
export function saysMore(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.replace(ESCAPED, ''));
}

/**
 * How wide the base64 of a line of a key is, which is at least `least`; 0 when it is no such line.
 * Short ones look like words: those that nothing promises must look like base64.
 */
export function widthOf(text: string, least: number): number {
  let from = 0;
  while (from < BEHIND_MAX * 4 && /^[\s"'`([{<|│]$/.test(text.charAt(from))) from += 1;
  const first = base64End(text, from);
  const width = first - from;
  if (width < least || width === 0) return 0;
  const word = text.slice(from, Math.min(first, from + 80));
  const likely = least === FIRST_MIN ? isLikely(word) : isMixed(word);
  if (least > 1 && !likely) return 0;
  const end = bodyEnd(text, from, AGAIN_MIN);
  const rest = text.slice(end).replace(ESCAPED, '');
  return rest.length <= BEHIND_MAX && /^[\s"'`,;:.)}\]>+\\|│]*$/.test(rest) ? width : 0;
}

/** Whether a word may be the first of a key: no number, no hash, and no short name. */
function isLikely(word: string): boolean {
  return word.length < 2 * FIRST_MIN
    ? /[a-z]/.test(word) && /[A-Z]/.test(word)
    : !/^[0-9a-f]*$/.test(word);
}

/** Whether a word has small and large letters and a digit or sign: no name, no number, no hash. */
export function isMixed(word: string): boolean {
  return /[a-z]/.test(word) && /[A-Z]/.test(word) && /[0-9+/=]/.test(word);
}

/**
 * Where base64 ends that begins at `from` or behind quotes and line breaks there. Behind a break that
 * is written out any word goes on with it, behind a space one of at least `least` characters.
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

/** A key may end in a line whose beginning is not there: its last word is base64. */
export function withoutLastWord(text: string): string {
  const start = lastWord(text);
  return widthOf(text.slice(start), AGAIN_MIN) > 0 ? text.slice(0, start) : text;
}

/** Where the last word of a line begins. */
export function lastWord(text: string): number {
  const end = text.trimEnd();
  return Math.max(end.lastIndexOf(' '), end.lastIndexOf('\t')) + 1;
}

/** Where the characters of base64 that stand at `from` end; `from` when none does. */
export function base64End(text: string, from: number): number {
  let end = from;
  while (isBase64(text.charCodeAt(end))) end += 1;
  return end;
}

/** Letters, digits, `+`, `/`, `=`; false for NaN, behind the end. */
export function isBase64(unit: number): boolean {
  return (
    (unit >= 97 && unit <= 122) ||
    (unit >= 65 && unit <= 90) ||
    (unit >= 47 && unit <= 57) ||
    unit === 43 ||
    unit === 61
  );
}
