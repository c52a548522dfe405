/** Lines of a file, last one first: finding one near the end costs the same at any size. */
import { fstatSync } from 'node:fs';
import { readRange } from './read.ts';

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
/** Bytes. Most hits are near the end; larger blocks gain less than 5 %. */
const FIRST_BLOCK = 16_384;
const BLOCK = 262_144;
/** Bytes; longer lines are skipped. Our own records are far shorter. */
export const LINE_MAX = 16_777_216;

/** Which lines are wanted. */
interface LineFilter {
  /** Only this many bytes of the file: a position after a newline. */
  readonly size?: number | undefined;
  /** A second needle. */
  readonly also?: Uint8Array;
  /** Called for each line longer than LINE_MAX. */
  tooLong?(): void;
}

/**
 * Lines of an open file that contain `needle` or, with escapes, may contain it; all lines if it is
 * empty. A line is valid until the next one is requested.
 */
export function* linesBackward(
  fd: number,
  needle: Uint8Array,
  { size, also = NOTHING, tooLong }: LineFilter = {},
): Generator<{ readonly line: Buffer; readonly at: number }> {
  let end = size ?? fstatSync(fd).size;
  let block = FIRST_BLOCK;
  let buffer = NOTHING;
  while (end > 0) {
    const start = Math.max(0, end - block);
    // One buffer for all blocks, since new ones would pile up until garbage collection.
    if (buffer.length < end - start) buffer = Buffer.allocUnsafeSlow(block);
    const bytes = readRange(fd, start, end - start, buffer);
    // A block ends at a line end; a partial line at its head is read again with the next block.
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
    for (const line of (isPlain ? linesWith : linesWithNames)(bytes, first + 1, needle, also))
      yield { line, at: start + line.byteOffset - bytes.byteOffset };
    end = start + first + 1;
    block = BLOCK;
  }
}

const ESCAPE = Buffer.from('\\u00');
/** The last two digits of an escaped letter, digit or sign of a name. */
const NAME_CODE = /^(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])$/i;

/** Position of an escaped character of a name (`\u0044` for D), as a foreign writer may write it; else -1. */
export function escapedNameAt(bytes: Buffer, from = 0): number {
  let at = bytes.indexOf(ESCAPE, from);
  while (at !== -1 && !NAME_CODE.test(bytes.toString('latin1', at + 4, at + 6)))
    at = bytes.indexOf(ESCAPE, at + 4);
  return at;
}

/** Lines with both needles and lines that may have them in escapes, last one first. */
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

/** Lines from `from` on with both needles, last one first. */
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
    // Searches forwards: Node searches backwards several times more slowly.
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

/** Position of a quoted name, searched without its first quote, since a log is full of quotes. */
function indexOf(bytes: Buffer, needle: Uint8Array, from: number): number {
  if (needle.length < 2) return bytes.indexOf(needle, from);
  const sought = needle.subarray(1);
  let at = bytes.indexOf(sought, from + 1);
  while (at !== -1 && bytes[at - 1] !== needle[0]) at = bytes.indexOf(sought, at + 1);
  return at === -1 ? -1 : at - 1;
}

/** Position after the newline before `position`, found without keeping the text between. */
export function lineStart(fd: number, position: number): number {
  for (let end = position; end > 0; ) {
    const start = Math.max(0, end - BLOCK);
    const at = readRange(fd, start, end - start).lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}
