/**
 * Reading the audit log newest first, in blocks from its end, so that a recent record costs the
 * same at any size of log; and through its rotated files.
 */
import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { kindOf, type LogRecord, projectOf, readRecord, textOf } from './events.ts';
import { Failure, systemCode, systemFailure } from './failure.ts';
import { namesIn, readIfThere, readRange } from './files.ts';
import type { Paths } from './paths.ts';

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
/** Most hits are near the end; larger blocks gain less than 5 % (measured up to 16 MiB). */
const FIRST_BLOCK = 16_384;
const BLOCK = 262_144;
/** A longer line is passed over: our own records end far below. */
export const LINE_MAX = 16_777_216;

/**
 * Lines of an open file that contain `needle` (all when empty), and `also` besides it, the last one
 * first; of its first `size` bytes where that is given, a position after a newline. A line is valid until the next one is
 * asked for.
 */
export function* linesBackward(
  fd: number,
  needle: Uint8Array,
  size = fstatSync(fd).size,
  also: Uint8Array = NOTHING,
): Generator<Buffer> {
  let end = size;
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
      else end = lineStart(fd, start);
      continue;
    }
    yield* linesWith(bytes, first + 1, needle, also);
    end = start + first + 1;
    block = BLOCK;
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

/**
 * The live log and its rotated files (`.1`, `.2.gz`, …), newest first; only those that exist. A file
 * that is just being compressed counts once.
 */
export function logFiles(paths: Paths): string[] {
  const folder = dirname(paths.auditLog);
  const live = basename(paths.auditLog);
  const number = (name: string) => Number(name.slice(live.length + 1).replace('.gz', ''));
  const names = namesIn(folder).filter((name) => name.startsWith(live));
  const rotated = names
    .filter((name) => /^\.\d{1,6}(\.gz)?$/.test(name.slice(live.length)))
    .filter((name) => !(name.endsWith('.gz') && names.includes(name.slice(0, -3))))
    .sort((a, b) => number(a) - number(b));
  return [...names.filter((name) => name === live), ...rotated].map((name) => join(folder, name));
}

/** Opens a file of the log for reading. Throws `file_unreadable`; undefined when it is gone. */
export function openLog(path: string): number | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
  throw new Failure('file_unreadable', `cannot read ${path}: it is not a file`);
}

/** What is looked for: both texts stand in the line of a record that `accept` takes. */
interface Wanted {
  readonly app: Buffer;
  readonly kind: Buffer;
  readonly accept: (record: LogRecord) => boolean;
}

/** Of two records the younger one: that which stands later, unless their times tell otherwise. */
function younger(
  later: LogRecord | undefined,
  earlier: LogRecord | undefined,
): LogRecord | undefined {
  if (later === undefined || earlier === undefined) return later ?? earlier;
  const time = (record: LogRecord) =>
    Date.parse(textOf(record, 'timestamp')) || Number.NEGATIVE_INFINITY;
  return time(earlier) > time(later) ? earlier : later;
}

/** Whether a record was appended when it happened: nothing before it in the log is younger then. */
function inTime(record: LogRecord): boolean {
  return record.late !== true;
}

/** The newest wanted record of a file, and whether none before it can be younger. */
interface Newest {
  readonly record: LogRecord | undefined;
  readonly certain: boolean;
}

async function newestIn(path: string, wanted: Wanted): Promise<Newest> {
  if (path.endsWith('.gz')) return newestInGzip(path, wanted);
  const fd = openLog(path);
  let newest: LogRecord | undefined;
  if (fd === undefined) return { record: newest, certain: false };
  try {
    for (const line of linesBackward(fd, wanted.app, undefined, wanted.kind)) {
      const record = readRecord(line);
      if (!record || !wanted.accept(record)) continue;
      newest = younger(newest, record);
      if (inTime(record)) return { record: newest, certain: true };
    }
    return { record: newest, certain: false };
  } finally {
    closeSync(fd);
  }
}

async function newestInGzip(path: string, wanted: Wanted): Promise<Newest> {
  let newest: LogRecord | undefined;
  let certain = false;
  try {
    for await (const line of gzipLines(path)) {
      // Cheaper than parsing every line.
      if (!line.includes(wanted.app) || !line.includes(wanted.kind)) continue;
      const record = readRecord(line);
      if (!record || !wanted.accept(record)) continue;
      newest = inTime(record) ? record : younger(record, newest);
      certain ||= inTime(record);
    }
  } catch (error) {
    // A damaged rotated file ends here: what was read before counts.
    if (!systemCode(error)?.startsWith('Z_'))
      throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
  return { record: newest, certain };
}

/** Lines of a compressed file, first to last; one that is too long is passed over. */
export async function* gzipLines(path: string): AsyncGenerator<Buffer> {
  const fd = openLog(path);
  if (fd === undefined) return;
  const source = createReadStream(path, { fd });
  const stream = source.pipe(process.getBuiltinModule('node:zlib').createGunzip());
  source.on('error', (error) => stream.destroy(error));
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, at)]);
      if (size + at - from <= LINE_MAX) yield line;
      parts = [];
      size = 0;
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    if (size <= LINE_MAX) parts.push(Buffer.from(rest));
    else parts = [];
    size += rest.length;
  }
  if (size > 0 && size <= LINE_MAX) yield Buffer.concat(parts);
}

/**
 * The newest record of one kind of one app: the live log first, then the rotated files. One that was
 * appended late is compared with those before it, in its file and the next one, up to one that was not.
 * Throws `log_not_found` when there is no file at all.
 */
export async function newestRecord(
  paths: Paths,
  kind: string,
  app: string,
): Promise<LogRecord | undefined> {
  const files = logFiles(paths);
  if (files.length === 0) {
    throw new Failure('log_not_found', `there is no audit log yet: ${paths.auditLog}`);
  }
  const wanted: Wanted = {
    // In quotes: 'api' is then never found inside 'api-2'.
    app: Buffer.from(JSON.stringify(app)),
    kind: Buffer.from(JSON.stringify(kind)),
    accept: (record) => kindOf(record) === kind && projectOf(record) === app,
  };
  let late: LogRecord | undefined;
  for (const path of files) {
    const { record, certain } = await newestIn(path, wanted);
    if (certain || late !== undefined) return younger(late, record);
    late = record;
  }
  return late;
}

/**
 * The events of a deploy, newest first: in the live log, the one rotated before it, and among those
 * that wait to be appended.
 */
export function eventsOfDeploy(paths: Paths, deployId: string): LogRecord[] {
  const found: LogRecord[] = [];
  const take = (line: Uint8Array | undefined) => {
    const record = line && readRecord(line);
    if (record?.deploy_id === deployId) found.push(record);
  };
  const waiting = namesIn(paths.auditSpool).filter((each) => each.includes(`-${deployId}-`));
  for (const name of waiting.reverse()) take(readIfThere(join(paths.auditSpool, name), LINE_MAX));
  const plain = logFiles(paths).filter((path) => !path.endsWith('.gz'));
  for (const path of plain.slice(0, 2)) {
    const fd = openLog(path);
    if (fd === undefined) continue;
    try {
      for (const line of linesBackward(fd, Buffer.from(JSON.stringify(deployId)))) {
        take(line);
        if (found.some((record) => kindOf(record) === 'DeployStarted')) return found;
      }
    } finally {
      closeSync(fd);
    }
  }
  return found;
}
