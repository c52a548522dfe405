/** Lines of a file, the last one first: what is near the end costs the same at any size. */
import { fstatSync } from 'node:fs';
import { readRange } from './read.ts';

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
/** Most hits are near the end; larger blocks gain less than 5 % (measured up to 16 MiB). */
const FIRST_BLOCK = 16_384;
const BLOCK = 262_144;
/** A longer line is passed over: our own records end far below. */
export const LINE_MAX = 16_777_216;

/** What else is said of the lines. */
interface Wish {
  /** Of the file only so many bytes, a position after a newline. */
  readonly size?: number | undefined;
  /** Stands in the line besides the needle. */
  readonly also?: Uint8Array;
  /** Called for each line that is passed over because it is longer than LINE_MAX. */
  tooLong?(): void;
}

/**
 * Lines of an open file that contain `needle` (all when empty), the last one first, and those that may
 * contain it by escapes. A line is valid until the next one is asked for.
 */
export function* linesBackward(
  fd: number,
  needle: Uint8Array,
  { size, also = NOTHING, tooLong }: Wish = {},
): Generator<Buffer> {
  let end = size ?? fstatSync(fd).size;
  let block = FIRST_BLOCK;
  let buffer = NOTHING;
  while (end > 0) {
    const start = Math.max(0, end - block);
    // One buffer for all blocks: new ones would pile up until they are collected.
    if (buffer.length < end - start) buffer = Buffer.allocUnsafeSlow(block);
    const bytes = readRange(fd, start, end - start, buffer);
    // Blocks end at a line's end; the part of a line at the head is read again with the next one.
    const first = start === 0 ? -1 : bytes.indexOf(NEWLINE);
    if (start > 0 && (first === -1 || first === bytes.length - 1)) {
      if (block < LINE_MAX) block *= 2;
      else {
        end = lineStart(fd, start);
        tooLong?.();
      }
      continue;
    }
    const isPlain = needle.length === 0 || escapedNameAt(bytes, first + 1) === -1;
    yield* (isPlain ? linesWith : linesWithNames)(bytes, first + 1, needle, also);
    end = start + first + 1;
    block = BLOCK;
  }
}

const ESCAPE = Buffer.from('\\u00');
/** The last two digits of an escape that stands for a letter, a digit or a sign of a name. */
const NAME_CODE = /^(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])$/i;

/**
 * Where a character of names is written as an escape (`\u0044` for D), which a foreign writer may do;
 * -1 when none is. A name is not found by its letters then.
 */
export function escapedNameAt(bytes: Buffer, from = 0): number {
  let at = bytes.indexOf(ESCAPE, from);
  while (at !== -1 && !NAME_CODE.test(bytes.toString('latin1', at + 4, at + 6)))
    at = bytes.indexOf(ESCAPE, at + 4);
  return at;
}

/** The lines that contain both needles, and those that may by escapes, the last one first. */
function* linesWithNames(
  bytes: Buffer,
  from: number,
  needle: Uint8Array,
  also: Uint8Array,
): Generator<Buffer> {
  for (const line of linesWith(bytes, from, NOTHING, NOTHING)) {
    const isNamed = line.indexOf(needle) !== -1 && line.indexOf(also) !== -1;
    if (isNamed || escapedNameAt(line) !== -1) yield line;
  }
}

/** The lines from `from` on that contain both needles, the last one first. */
function* linesWith(
  bytes: Buffer,
  from: number,
  needle: Uint8Array,
  also: Uint8Array,
): Generator<Buffer> {
  const lineStartOf = (at: number) => bytes.lastIndexOf(NEWLINE, at) + 1;
  const found: number[] = [];
  let other = from - 1;
  for (let start = from; start < bytes.length; ) {
    const hit = needle.length === 0 ? start : indexOf(bytes, needle, start);
    if (hit === -1) break;
    // Searched forwards: the functions of Node that search backwards are several times slower.
    if (hit > start) start = Math.max(start, lineStartOf(hit));
    const stop = bytes.indexOf(NEWLINE, hit);
    const end = stop === -1 ? bytes.length : stop;
    if (also.length > 0) {
      if (other < start) other = indexOf(bytes, also, start);
      if (other === -1) break;
    }
    if (other < end) found.push(start, end);
    start = other < end ? end + 1 : lineStartOf(other);
  }
  for (let at = found.length - 2; at >= 0; at -= 2) yield bytes.subarray(found[at], found[at + 1]);
}

/** Where a name in quotes stands: searched for without its first quote, of which a log is full. */
function indexOf(bytes: Buffer, needle: Uint8Array, from: number): number {
  if (needle.length < 2) return bytes.indexOf(needle, from);
  const sought = needle.subarray(1);
  let at = bytes.indexOf(sought, from + 1);
  while (at !== -1 && bytes[at - 1] !== needle[0]) at = bytes.indexOf(sought, at + 1);
  return at === -1 ? -1 : at - 1;
}

/** Position after the newline before `position`, found without keeping what lies between. */
export function lineStart(fd: number, position: number): number {
  for (let end = position; end > 0; ) {
    const start = Math.max(0, end - BLOCK);
    const at = readRange(fd, start, end - start).lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}
