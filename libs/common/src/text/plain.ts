/**
 * Makes foreign text plain, and shortens it without splitting a character. Readers of build output
 * remove escapes first, then progress lines, then control characters.
 */

const ESC = '\\u001b';
/** CSI: colours, cursor, erase. */
const SEQUENCE = `(?:${ESC}\\[|\\u009b)([0-?]{0,512})[ -/]{0,64}([@-~]?)`;
/** Character sets, and all others. */
const OTHERS = `${ESC}[ -/]{1,64}[0-~]?|${ESC}[0-~]?`;
/**
 * Every part ends at the next escape, so matching stays linear, and has a maximum length, since
 * backtracking through millions of characters exhausts the engine's stack.
 */
const ESCAPES = new RegExp(
  [
    SEQUENCE,
    `${ESC}[\\]PX^_][^\\u0007\\u001b\\u009c]{0,65536}(?:\\u0007|\\u009c|${ESC}\\\\)`, // OSC with hyperlinks, DCS, APC
    OTHERS,
  ].join('|'),
  'g',
);

/**
 * Removes terminal escapes, truncated ones too: CSI, OSC (hyperlinks keep their text), DCS, character
 * sets. A jump to the first column becomes a carriage return, which looks the same.
 */
export function stripAnsi(text: string): string {
  if (!text.includes('\u001b') && !text.includes('\u009b')) return text;
  return text.replace(ESCAPES, (_all, digits?: string, final?: string) =>
    final === 'G' && (digits === '' || digits === '0' || digits === '1') ? '\r' : '',
  );
}

const ESCAPE_HERE = new RegExp(`${SEQUENCE}|${OTHERS}`, 'y');

/** Where the terminal escape at `at` ends, without the text of a hyperlink; `at` without one. */
export function escapeEnd(text: string, at: number): number {
  ESCAPE_HERE.lastIndex = at;
  return ESCAPE_HERE.test(text) ? ESCAPE_HERE.lastIndex : at;
}

/** Keeps the part of each line that a terminal would still show: the text after the last carriage return. */
export function collapseProgress(text: string): string {
  if (!text.includes('\r')) return text;
  const lines = text.split('\n');
  return lines.map((line) => lastSegment(line)).join('\n');
}

function lastSegment(line: string): string {
  let end = line.length;
  while (end > 0 && line.charCodeAt(end - 1) === 13) end -= 1;
  if (end === 0) return '';
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

/** C0 except newline and tab, DEL, C1, byte order marks and bidirectional controls. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Removes control characters except newline and tab; a lone surrogate becomes U+FFFD. */
export function dropControls(text: string): string {
  return text.replace(CONTROLS, '').toWellFormed();
}

/** Foreign output without escapes, overwritten progress and control characters. */
export function cleanText(text: string): string {
  return dropControls(collapseProgress(stripAnsi(text)));
}

/** Length in Unicode code points, the unit of every limit on messages. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if (isPair(text, at)) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/**
 * The text in at most `max` code points. A shortened one ends in `…`, which counts too, and is not cut
 * inside a grapheme such as an emoji sequence or an accented letter.
 */
export function cutCodePoints(text: string, max: number): string {
  if (text.length <= max || codePoints(text) <= max) return text;
  if (max < 1) return '';
  return `${text.slice(0, graphemeStart(text, indexOfPoint(text, max - 1)))}…`;
}

/** A cut moves to a line end that is this close, in code units. */
const NEAR = 80;

/**
 * The text in at most `max` code points: a third from its head, the rest from its tail, and between
 * them a line with the number of omitted code points.
 */
export function headAndTail(text: string, max: number): string {
  if (text.length <= max) return text;
  const total = codePoints(text);
  if (total <= max) return text;
  const room = max - codePoints(omission(total));
  if (room < 3) return cutCodePoints(text, max);
  const headPoints = Math.floor(room / 3);
  const headEnd = lineEndBefore(text, graphemeStart(text, indexOfPoint(text, headPoints)));
  const exact = indexOfPoint(text, total - (room - headPoints));
  const tailStart = Math.max(headEnd, lineStartAfter(text, nextGrapheme(text, exact)));
  const head = text.slice(0, headEnd);
  const tail = text.slice(tailStart);
  return head + omission(total - codePoints(head) - codePoints(tail)) + tail;
}

function omission(count: number): string {
  return `\n… ${count} characters omitted …\n`;
}

function lineEndBefore(text: string, at: number): number {
  const end = text.lastIndexOf('\n', at);
  return end > 0 && at - end <= NEAR ? end : at;
}

function lineStartAfter(text: string, at: number): number {
  if (at === 0 || text[at - 1] === '\n') return at;
  const end = text.slice(at, at + NEAR).indexOf('\n');
  return end >= 0 && at + end + 1 < text.length ? at + end + 1 : at;
}

/** Index (code units) of the code point with this number, or the text's length. */
function indexOfPoint(text: string, point: number): number {
  let at = 0;
  for (let count = 0; count < point && at < text.length; count += 1) at += isPair(text, at) ? 2 : 1;
  return at;
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}

let segmenter: Intl.Segmenter | undefined;

/** The start of the grapheme around `at`; `at` itself between two graphemes. */
function graphemeStart(text: string, at: number): number {
  if (at <= 0 || at >= text.length || isPlain(text, at)) return at;
  // Where a grapheme begins depends on the text before it, back to plain text.
  let from = at - 1;
  while (from > 0 && !isPlain(text, from)) from -= 1;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  const piece = segmenter.segment(text.slice(from, at + 2)).containing(at - from);
  return from + (piece?.index ?? 0);
}

/** The next boundary between graphemes, at or after `at`. */
function nextGrapheme(text: string, at: number): number {
  let place = at;
  while (place < text.length && graphemeStart(text, place) !== place) place += 1;
  return place;
}

/** Whether both sides are printable ASCII or a newline, which never join. */
function isPlain(text: string, at: number): boolean {
  return isPlainUnit(text.charCodeAt(at - 1)) && isPlainUnit(text.charCodeAt(at));
}

function isPlainUnit(unit: number): boolean {
  return (unit >= 32 && unit < 127) || unit === 10;
}
