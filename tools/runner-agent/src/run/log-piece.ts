/** Reads the audit log piece by piece, through rotations: a file is known by its first line. */
import { closeSync, fstatSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { logFiles, openLog } from '@runner/common/audit/files';
import { readRange } from '@runner/common/files/read';
import type { Paths } from '@runner/common/foundation/paths';
import type { Position } from '@runner/fleet/events/batch';
import { digestOf } from '@runner/fleet/order/seal';

/** Complete lines of one file. */
export interface Piece extends Position {
  readonly from: number;
  readonly bytes: Buffer;
  /** The file in which the last piece ended is gone. */
  readonly gap: boolean;
}

/** Bytes: of a piece, unless one line is longer; of a line; of a compressed file. */
const PIECE = 262_144;
const LINE = 700_000;
const GZIP_MAX = 268_435_456;
const NEWLINE = 0x0a;

/** What follows a position; undefined if there is no complete line yet. */
export function pieceAfter(paths: Paths, last: Position | undefined): Piece | undefined {
  const files = logFiles(paths).reverse();
  const index = last ? files.findIndex((path) => fileId(path) === last.file) : -1;
  if (last && index >= 0) {
    const rest = read(files[index] as string, last.to, false);
    if (rest) return rest;
  }
  const gap = last !== undefined && index < 0;
  for (const path of files.slice(index + 1)) {
    const piece = read(path, 0, gap);
    if (piece) return piece;
  }
  return undefined;
}

/** Undefined for a file without a complete line. */
function fileId(path: string): string | undefined {
  const head = bytesOf(path, 0, LINE);
  const end = head?.indexOf(NEWLINE) ?? -1;
  return head && end >= 0 ? digestOf(head.subarray(0, end)) : undefined;
}

function read(path: string, from: number, gap: boolean): Piece | undefined {
  const file = fileId(path);
  let bytes = bytesOf(path, from, PIECE);
  if (bytes && bytes.length >= PIECE && !bytes.includes(NEWLINE)) bytes = bytesOf(path, from, LINE);
  const end = (bytes?.lastIndexOf(NEWLINE) ?? -1) + 1;
  if (!bytes || file === undefined || end === 0) return undefined;
  return { file, from, to: from + end, bytes: bytes.subarray(0, end), gap };
}

function bytesOf(path: string, from: number, length: number): Buffer | undefined {
  const fd = openLog(path);
  if (fd === undefined) return undefined;
  try {
    if (!path.endsWith('.gz')) return readRange(fd, from, length);
    const whole = gunzipSync(readRange(fd, 0, fstatSync(fd).size), { maxOutputLength: GZIP_MAX });
    return whole.subarray(from, from + length);
  } catch {
    // Being compressed, or damaged.
    return undefined;
  } finally {
    closeSync(fd);
  }
}
