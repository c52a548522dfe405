/** Reads the audit log in pieces, across rotations: a file is identified by its first line. */
import { closeSync, fstatSync, type Stats, statSync } from 'node:fs';
import { LINE_MAX } from '../files/lines-backward.ts';
import { readRange } from '../files/read.ts';
import type { Paths } from '../foundation/paths.ts';
import { hashOf } from './chain.ts';
import { logFiles, openLog } from './files.ts';
import { readRecord, textOf } from './record.ts';

/** Where in the log a piece ends. */
export interface LogOffset {
  /** First 32 hexadecimal digits of the hash of the file's first line, or its first 700,000 bytes: identifies it after rotation. */
  readonly file: string;
  /** Offset in bytes. */
  readonly to: number;
  /** Once the log was put back, such as from a backup: makes `file` another one, as the offsets have other lines. */
  readonly restored?: number | undefined;
}

/** Complete lines of one file, or the beginning of one that is longer than `LINE_MAX`. */
export interface LogPiece {
  readonly file: string;
  readonly from: number;
  readonly bytes: Buffer;
  /** The file of the last piece is gone, or a file in between is unreadable. */
  readonly gap: boolean;
}

/** Bytes: of an ordinary first line; of a piece; of a first line that identify a file; of a compressed file. */
const HEAD = 4_096;
const PIECE = 1_048_576;
const FIRST = 700_000;
const GZIP_MAX = 268_435_456;
const NEWLINE = 0x0a;

export class LogReader {
  private readonly paths: Paths;
  /** Ids of compressed files, so that they are not decompressed every second. */
  private readonly ids = new Map<string, string>();
  /** The compressed file being read. */
  private unzipped: { key: string; bytes: Buffer } | undefined;

  constructor(paths: Paths) {
    this.paths = paths;
  }

  /** The lines after a position; undefined if there is no complete line yet. */
  after(last: LogOffset | undefined): LogPiece | undefined {
    const before = this.inodes();
    const piece = this.next(last);
    // If the log was rotated meanwhile, a name may now be another file's.
    return this.inodes() === before ? piece : undefined;
  }

  private inodes(): string {
    return logFiles(this.paths)
      .map((path) => statSync(path, { throwIfNoEntry: false })?.ino)
      .join();
  }

  private next(last: LogOffset | undefined): LogPiece | undefined {
    const { files, index } = this.find(last);
    if (last && index >= 0) {
      const rest = this.read(files[index] as string, last, false);
      if (rest) return rest;
    }
    let gap = last !== undefined && index < 0;
    for (const path of files.slice(index + 1)) {
      const piece = this.read(path, { to: 0, restored: last?.restored }, gap);
      if (piece) return piece;
      // The file is damaged.
      gap ||= path.endsWith('.gz') && this.bytesOf(path, 0, 1) === undefined;
    }
    this.unzipped = undefined;
    return undefined;
  }

  /**
   * Where the lines go on that are newer than the last that were read, if these are no longer in the log, nor rotated
   * away: it was put back. `restored` is the new mark of its files.
   */
  putBack(last: LogOffset, bytes: Buffer, restored: number): LogOffset | undefined {
    const before = this.inodes();
    const { files, index } = this.find(last);
    const [from, length] = [last.to - bytes.length, bytes.length];
    const there = index < 0 ? undefined : this.bytesOf(files[index] as string, from, length);
    if (there?.equals(bytes)) return undefined;
    const read = linesOf(bytes).map(timeIn).sort().at(-1) ?? '';
    const isNewer = (line: string) => timeIn(line) > read;
    const path = files.findLast((each) => {
      const [first = ''] = linesOf(this.bytesOf(each, 0, FIRST));
      return first !== '' && !isNewer(first);
    });
    const file = path && this.nameOf(path, restored);
    if (!path || !file || this.inodes() !== before) return undefined;
    const lines = linesOf(this.bytesOf(path, 0, GZIP_MAX)).filter((line) => line.endsWith('\n'));
    const end = lines.findIndex(isNewer);
    const known = end < 0 ? lines : lines.slice(0, end);
    return { file, to: known.join('').length, restored };
  }

  /** Bytes after a position; compressed files count as they are on disk. */
  waiting(last: LogOffset | undefined): number {
    const { files, index } = this.find(last);
    const sizes = files.slice(Math.max(0, index)).map((path) => sizeOf(path));
    const sent = last && index >= 0 ? Math.min(last.to, sizes[0] ?? 0) : 0;
    return sizes.reduce((sum, size) => sum + size, 0) - sent;
  }

  /** All files, oldest first, and the index of the file that a position is in, or -1. */
  private find(last: LogOffset | undefined): { files: string[]; index: number } {
    const files = logFiles(this.paths).reverse();
    // Searched from the newest, which is usually the one.
    return {
      files,
      index: last
        ? files.findLastIndex((path) => this.nameOf(path, last.restored) === last.file)
        : -1,
    };
  }

  /** As `LogOffset` calls the file. */
  private nameOf(path: string, restored: number | undefined): string | undefined {
    const id = this.idOf(path);
    return id && restored ? hashOf(Buffer.from(`${id} ${restored}`)).slice(0, 32) : id;
  }

  /** Undefined if the file has no complete line. */
  private idOf(path: string): string | undefined {
    if (path.endsWith('.gz')) {
      const key = keyOf(statSync(path, { throwIfNoEntry: false }));
      const id = this.ids.get(key) ?? firstLine(this.bytesOf(path, 0, FIRST));
      if (id !== undefined) this.ids.set(key, id);
      return id;
    }
    return firstLine(this.bytesOf(path, 0, HEAD)) ?? firstLine(this.bytesOf(path, 0, FIRST));
  }

  private read(
    path: string,
    { to: from, restored }: Omit<LogOffset, 'file'>,
    gap: boolean,
  ): LogPiece | undefined {
    if (sizeOf(path) <= from && !path.endsWith('.gz')) return undefined;
    const file = this.nameOf(path, restored);
    if (file === undefined) return undefined;
    for (let length = PIECE; ; length *= 2) {
      const bytes = this.bytesOf(path, from, length);
      if (!bytes) return undefined;
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      if (end > 0) return { file, from, bytes: bytes.subarray(0, end), gap };
      if (bytes.length < length) return undefined;
      if (length >= LINE_MAX) return { file, from, bytes, gap };
    }
  }

  private bytesOf(path: string, from: number, length: number): Buffer | undefined {
    const fd = openLog(path);
    if (fd === undefined) return undefined;
    try {
      if (!path.endsWith('.gz')) return readRange(fd, from, length);
      const key = keyOf(fstatSync(fd));
      if (this.unzipped?.key !== key) {
        const { gunzipSync } = process.getBuiltinModule('node:zlib');
        const bytes = gunzipSync(readRange(fd, 0, fstatSync(fd).size), {
          maxOutputLength: GZIP_MAX,
        });
        this.unzipped = { key, bytes };
      }
      return this.unzipped.bytes.subarray(from, from + length);
    } catch {
      // It is being compressed, or damaged.
      return undefined;
    } finally {
      closeSync(fd);
    }
  }
}

/** One character is one byte. */
const linesOf = (bytes: Buffer | undefined) => bytes?.toString('latin1').split(/(?<=\n)/) ?? [];
const timeIn = (line: string) => textOf(readRecord(line) ?? {}, 'timestamp');

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** More than the inode number, which is reused once a file is deleted. */
const keyOf = (stat: Stats | undefined) =>
  stat ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` : '';

/** Undefined unless there is a complete line, or enough of one. */
function firstLine(head: Buffer | undefined): string | undefined {
  const found = head?.indexOf(NEWLINE) ?? -1;
  const end = found < 0 && head?.length === FIRST ? FIRST : found;
  return head && end >= 0 ? hashOf(head.subarray(0, end)).slice(0, 32) : undefined;
}
