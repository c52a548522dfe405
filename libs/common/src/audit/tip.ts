/** The end of the chain: the newest chained record of the log, in the live file or a rotated one. */
import { closeSync, fstatSync } from 'node:fs';
import { linesBackward } from '../files/lines-backward.ts';
import { readRange } from '../files/read.ts';
import { orElse } from '../foundation/attempt.ts';
import type { Paths } from '../foundation/paths.ts';
import { type ChainHead, hashOf, type Link, linkOf, linkTo } from './chain.ts';
import { logFiles, openLogOr, openLogs } from './files.ts';
import { readRecord } from './record.ts';

/** In the line of every chained record. */
const NEEDLE = Buffer.from('"prev":"');
const NEWLINE = 0x0a;
const BLOCK = 262_144;
/** The most that a compressed file is inflated to, in bytes; a larger one is passed over. */
const INFLATED_MAX = 268_435_456;

/** The newest chained record, and the link of the record after it. */
export interface Tip {
  readonly head: ChainHead;
  readonly next: Link;
}

/** A file of the log, plain or inflated. */
interface LogContent {
  readonly size: number;
  read(position: number, length: number): Buffer;
  /** Lines that may be chained records, last one first. */
  candidates(): Iterable<{ readonly line: Buffer; readonly at: number }>;
}

/** How often the files are looked at again when a rotation has renamed them meanwhile. */
const TRIES = 10;

/**
 * The end of the chain; undefined before its first record. `live` is the open live log: a rotation
 * may have renamed it. A rotated file that cannot be read is passed over: it must not stop a deploy,
 * and `verify` reports it. Throws `file_unreadable` for the live log.
 */
export function tipOf(paths: Paths, live?: number): Tip | undefined {
  const own = live === undefined ? undefined : plain(live);
  const tip = own && newestOf(own, []);
  if (tip) return tip;
  for (let tries = 1; ; tries += 1) {
    const files = logFiles(paths);
    const found = searched(paths, files);
    if (tries === TRIES || logFiles(paths).join() === files.join()) return found;
  }
}

/** The chained lines of the log and its rotated files, newest first; each is valid until the next one. */
export function* chainedLines(paths: Paths): Generator<Buffer> {
  for (const { fd, path } of openLogs(paths))
    for (const { line } of contentOf(fd, path).candidates()) yield line;
}

function searched(paths: Paths, files: readonly string[]): Tip | undefined {
  const open: number[] = [];
  const newer: LogContent[] = [];
  try {
    for (const path of files) {
      const fd = openLogOr(paths, path, () => {});
      if (fd === undefined) continue;
      open.push(fd);
      const content = contentOf(fd, path);
      const tip = newestOf(content, newer);
      if (tip) return tip;
      if (content.size > 0) newer.unshift(content);
    }
    return undefined;
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

/** The end of the chain, if it is in this file. */
function newestOf(content: LogContent, newer: readonly LogContent[]): Tip | undefined {
  for (const { line, at } of content.candidates()) {
    const link = linkOf(readRecord(line) ?? {});
    if (!link) continue;
    const isLast = newer.length === 0 && at + line.length + 1 >= content.size;
    const head = { seq: link.seq, hash: hashOf(line) };
    return { head, next: linkTo(link.seq, isLast ? head.hash : hashFrom(content, at, newer)) };
  }
  return undefined;
}

function contentOf(fd: number, path: string): LogContent {
  return path.endsWith('.gz') ? inflated(fd) : plain(fd);
}

function plain(fd: number): LogContent {
  return {
    size: fstatSync(fd).size,
    read: (position, length) => readRange(fd, position, length),
    candidates: () => linesBackward(fd, NEEDLE),
  };
}

/** Empty if the file is damaged or too large. */
function inflated(fd: number): LogContent {
  const packed = readRange(fd, 0, fstatSync(fd).size);
  const { gunzipSync } = process.getBuiltinModule('node:zlib');
  const bytes = orElse(
    () => gunzipSync(packed, { maxOutputLength: INFLATED_MAX }),
    Buffer.alloc(0),
  );
  return {
    size: bytes.length,
    read: (position, length) => bytes.subarray(position, position + length),
    *candidates() {
      for (let end = bytes.length; end > 0; ) {
        const hit = bytes.lastIndexOf(NEEDLE, end - 1);
        if (hit === -1) return;
        const at = bytes.lastIndexOf(NEWLINE, hit) + 1;
        const stop = bytes.indexOf(NEWLINE, hit);
        yield { line: bytes.subarray(at, stop === -1 ? undefined : stop), at };
        end = at;
      }
    },
  };
}

/** The hash of the lines from a position on, through the newer files; without the last newline. */
function hashFrom(content: LogContent, at: number, newer: readonly LogContent[]): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  let isFirst = true;
  for (const part of [content, ...newer]) {
    if (!isFirst) hash.update('\n');
    const isEnded = part.read(part.size - 1, 1)[0] === NEWLINE;
    const end = isEnded ? part.size - 1 : part.size;
    for (let position = isFirst ? at : 0; position < end; position += BLOCK)
      hash.update(part.read(position, Math.min(BLOCK, end - position)));
    isFirst = false;
  }
  return hash.digest('hex');
}
