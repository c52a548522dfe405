/** The requests in a proxy's access log: of nginx and Caddy, combined or in JSON. */
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { readRange } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { jsonObject } from '@runner/common/text/json';

/** A request that was answered. */
export interface Answer {
  readonly status: number;
  /** Seconds until it was answered; undefined if the log does not say. */
  readonly seconds: number | undefined;
}

/** Where a log ended at some time. */
export type LogPlace = NonNullable<ReturnType<typeof endOfLog>>;

/** A part of a log. */
export interface LogSpan {
  readonly from: LogPlace;
  readonly to: LogPlace;
}

/** Where a log ends now; undefined if it cannot be read. */
export function endOfLog(path: string) {
  const fd = openLog(path);
  if (fd === undefined) return undefined;
  const { ino: inode, size } = fstatSync(fd);
  closeSync(fd);
  return { inode, size };
}

/** Bytes of the log before the release that show what was usual. */
const BEFORE_MAX = 4_194_304;
/** Bytes read at once, blocks read at one look, and bytes of one line. */
const BLOCK = 1_048_576;
const BLOCKS_MAX = 16;
const LINE_MAX = 65_536;

/** `"GET / HTTP/1.1" 200 512 …`, with or without the time to answer at the end: `0.012`, `rt=0.012`. */
const COMBINED = /" (?<status>[1-5]\d\d) (?:\d+|-)(?:.*[ =](?<seconds>\d{1,6}\.\d{3})"?)?\s*$/;

/** The answer that a line is about; undefined for any other line. */
export function answerIn(line: string): Answer | undefined {
  if (!line.startsWith('{')) {
    const { status, seconds } = COMBINED.exec(line)?.groups ?? {};
    if (status === undefined) return undefined;
    return { status: Number(status), seconds: seconds === undefined ? undefined : Number(seconds) };
  }
  const record = jsonObject(line);
  const status = Number(record?.status);
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  const time = [record?.duration, record?.request_time].map(Number).find((each) => each >= 0);
  return { status, seconds: time };
}

/** A log that grows, and is rotated. */
export class AccessLog {
  readonly #path: string;
  #fd: number | undefined;
  #position = 0;
  #rest = '';
  #decoder = new StringDecoder('utf8');
  #isLost = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether it is there and may be read. */
  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  /** Whether `next` found nothing to read: no one writes to what it has read, and there is nothing else. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** What was answered before a place, but for some parts; what follows it is read by `next`. */
  before(place: LogPlace, but: readonly LogSpan[] = []): Answer[] {
    this.#fd ??= openLog(this.#path);
    const own = this.#fd === undefined ? undefined : fstatSync(this.#fd);
    // It was rotated or emptied since: all of it is newer.
    if (!own || own.ino !== place.inode || own.size < place.size) return [];
    const answers: Answer[] = [];
    let left = BEFORE_MAX;
    for (const [start, end] of rangesBefore(place, but)) {
      this.#position = Math.max(start, end - left);
      left -= end - this.#position;
      for (let from = -1; from !== this.#position; ) {
        from = this.#position;
        answers.push(...this.#read(end));
      }
      this.#rest = '';
    }
    this.#position = place.size;
    return answers;
  }

  /** What was answered since. */
  next(): Answer[] {
    this.#fd ??= openLog(this.#path);
    const answers: Answer[] = [];
    for (let block = 0, from = -1; block < BLOCKS_MAX && from !== this.#position; block += 1) {
      from = this.#position;
      answers.push(...this.#read());
    }
    this.#isLost = this.#fd === undefined;
    if (answers.length > 0 || this.#fd === undefined) return answers;
    const inode = orElse(() => statSync(this.#path).ino, undefined);
    if (inode === fstatSync(this.#fd).ino) return answers;
    const now = openLog(this.#path);
    this.#isLost = now === undefined;
    if (now === undefined) return answers;
    // It was rotated: what came last is read already.
    closeSync(this.#fd);
    [this.#fd, this.#position, this.#rest] = [now, 0, ''];
    return this.#read();
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #read(end = Number.POSITIVE_INFINITY): Answer[] {
    if (this.#fd === undefined) return [];
    const { size } = fstatSync(this.#fd);
    if (size < this.#position) this.#position = 0;
    const left = Math.min(size, end) - this.#position;
    const bytes = readRange(this.#fd, this.#position, Math.min(BLOCK, Math.max(0, left)));
    this.#position += bytes.length;
    const lines = (this.#rest + this.#decoder.write(bytes)).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, LINE_MAX);
    return lines.flatMap((line) => answerIn(line.slice(0, LINE_MAX)) ?? []);
  }
}

/** What is left of a log before a place without some parts, the newest first. */
function rangesBefore({ inode, size }: LogPlace, but: readonly LogSpan[]): [number, number][] {
  // What ends later is of a log that was emptied since.
  const own = but.filter(({ to }) => to.inode === inode && to.size <= size);
  const ranges: [number, number][] = [];
  let end = size;
  for (const { from, to } of own.sort((a, b) => b.to.size - a.to.size)) {
    if (to.size < end) ranges.push([to.size, end]);
    end = Math.min(end, from.inode === inode ? from.size : 0);
  }
  return [...ranges, [0, end]];
}

/** A regular file: a pipe in its place must not hold the watch up. */
function openLog(path: string): number | undefined {
  const fd = orElse(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), undefined);
  if (fd === undefined || fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return undefined;
}
