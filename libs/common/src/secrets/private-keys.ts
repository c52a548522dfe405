/**
 * Cuts private keys out of text, line by line, from the line that begins a key to the one that ends it.
 * Programs may have added prefixes (a service name, a time, an indent), quotes, line breaks written as
 * `\n`, colours or headers.
 */

import { stripAnsi } from '../text/plain.ts';
import {
  AGAIN_MIN,
  base64End,
  bodyEnd,
  FIRST_MIN,
  FOREIGN_MIN,
  isBase64,
  isMixed,
  lastWord,
  saysMore,
  widthOf,
  withoutLastWord,
} from './private-key-base64.ts';
import { behind, HINT, isHeader, marksOf } from './private-key-marks.ts';
import { REDACTED } from './redacted.ts';

/** Lines and characters after which a key without an end is given up; real keys are far smaller. */
const LINES_MAX = 4_096;
const SIZE_MAX = 262_144;
/** Most foreign lines between two lines of a key. */
const OTHERS_MAX = 40;
/** Lines that look like part of a key are held back, in case its last line follows: width and number. */
const HELD_MIN = 40;
const HELD_MAX = 512;
const HELD_LINES = 1_024;

/** A key whose last line has not come yet. */
interface OpenKey {
  /** The text before it in its first line; '' for an indent. */
  readonly prefix: string;
  lines: number;
  size: number;
  others: number;
  /** Width of its longest line; 0 while only headers have come. */
  width: number;
  /** Width of the line before, and of the narrowest that was followed by another: text may be wrapped twice. */
  last: number;
  narrowest: number;
  /** Whether the previous line belonged to it and was not a short last one. */
  steady: boolean;
  /** Whether its lines lack the prefix. */
  bare: boolean;
}

/**
 * Takes the lines of a text without their newlines and emits what remains of them in order, each with
 * its tag. `[REDACTED]` replaces the first line of a key.
 */
export class KeyCutter<T> {
  readonly #emit: (line: string, tag: T) => void;
  #open: OpenKey | undefined;
  #held: { line: string; tag: T }[] = [];

  constructor(emit: (line: string, tag: T) => void) {
    this.#emit = emit;
  }

  /** Whether the line would be emitted unchanged and at once. */
  passes(line: string): boolean {
    const isIdle = this.#open === undefined && this.#held.length === 0;
    return isIdle && !line.includes(HINT) && !this.#isHeld(line);
  }

  take(line: string, tag: T): void {
    if (this.#open === undefined || !this.#inside(this.#open, line, tag)) this.#outside(line, tag);
  }

  /** Emits the lines that were held back. */
  end(): void {
    for (const { line, tag } of this.#held.splice(0)) this.#emit(line, tag);
  }

  #outside(line: string, tag: T): void {
    if (!line.includes(HINT)) {
      if (this.#isHeld(line)) {
        this.#held.push({ line, tag });
        if (this.#held.length > HELD_LINES) this.end();
        return;
      }
      this.end();
      this.#emit(line, tag);
      return;
    }
    const text = stripAnsi(line);
    const marks = marksOf(text);
    const [first] = marks;
    if (first?.ends && this.#held.length > 0) this.#held = [];
    else this.end();
    let shown = '';
    let at = 0;
    for (const [index, mark] of marks.entries()) {
      if (mark.at < at) continue;
      const before = text.slice(at, mark.at);
      shown += (mark.ends ? withoutLastWord(before) : before) + REDACTED;
      at = mark.to;
      if (mark.ends) continue;
      const next = marks[index + 1];
      if (next?.ends && next.at - at <= SIZE_MAX) {
        at = next.to;
        continue;
      }
      const room = text.slice(0, next?.at ?? text.length);
      at = bodyEnd(room, at, AGAIN_MIN);
      if (next === undefined && !saysMore(text.slice(at))) {
        const prefix = text.slice(0, mark.at);
        this.#open = {
          prefix: prefix.trim() === '' ? '' : prefix,
          lines: 0,
          size: 0,
          others: 0,
          width: 0,
          last: 0,
          narrowest: Number.POSITIVE_INFINITY,
          steady: true,
          bare: false,
        };
      }
    }
    const rest = text.slice(at);
    this.#emit(
      marks.length === 0 ? line : shown + (saysMore(rest) || this.#open === undefined ? rest : ''),
      tag,
    );
  }

  /** Whether the line belongs to the open key; if so, it is done. */
  #inside(key: OpenKey, line: string, tag: T): boolean {
    key.lines += 1;
    key.size += line.length;
    if (key.lines > LINES_MAX || key.size > SIZE_MAX) {
      this.#open = undefined;
      return false;
    }
    const text = stripAnsi(line);
    const own = key.prefix === '' ? 0 : behind(key.prefix, text);
    const [mark] = line.includes(HINT) ? marksOf(text) : [];
    if (mark) {
      this.#open = undefined;
      if (!mark.ends) return false;
      const before = text.slice(Math.min(Math.max(own, 0), mark.at), mark.at);
      const rest = text.slice(mark.to);
      if (before.trim() !== '' && widthOf(before, 1) === 0) {
        this.#outside(text.slice(0, mark.at) + REDACTED + rest, tag);
      } else if (saysMore(rest)) {
        this.#outside(rest, tag);
      }
      return true;
    }
    const body = own > 0 ? text.slice(own) : text;
    if (body.trim() === '') return key.steady || key.width === 0;
    if (key.width === 0 && isHeader(body)) return true;
    if (key.width > 0 && /^\s{0,40}=[A-Za-z0-9+/]{4}\s{0,4}$/.test(body)) return true;
    const least = key.width === 0 ? FIRST_MIN : key.steady ? 1 : AGAIN_MIN;
    const width = widthOf(body, least) || (own > 0 ? widthOf(text, least) : 0);
    if (width > 0) {
      if (!key.steady) key.narrowest = Math.min(key.narrowest, key.last);
      key.steady = width >= Math.min(key.width, key.narrowest);
      key.width = Math.max(key.width, width);
      key.last = width;
      key.bare ||= own <= 0;
      key.others = 0;
      return true;
    }
    const start = lastWord(text);
    if (widthOf(text.slice(start), FOREIGN_MIN) > 0) {
      key.others = 0;
      this.#emit(text.slice(0, start) + REDACTED, tag);
      return true;
    }
    if (own >= 0 || key.bare) key.steady = false;
    key.others += 1;
    if (key.others > OTHERS_MAX) this.#open = undefined;
    return false;
  }

  #isHeld(line: string): boolean {
    const least = this.#held.length === 0 ? HELD_MIN : 1;
    if (line.length < least || line.length > HELD_MAX || !isBase64(line.charCodeAt(0)))
      return false;
    const end = base64End(line, 0);
    return end >= least && /^\s{0,4}$/.test(line.slice(end)) && (least === 1 || isMixed(line));
  }
}

export function withoutKeys(text: string): string {
  if (!text.includes(HINT)) return text;
  const lines: string[] = [];
  const cutter = new KeyCutter<undefined>((line) => lines.push(line));
  for (const line of text.split('\n')) cutter.take(line, undefined);
  cutter.end();
  return lines.join('\n');
}
