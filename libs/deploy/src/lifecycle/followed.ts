/** The files that an app prints to: their ends, and what comes. */
import { closeSync, existsSync, fstatSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { openBelowInstance } from '@runner/common/apps/instance-folder';
import { SLOTS, type SlotName, slotPaths } from '@runner/common/apps/slots';
import { linesBackward } from '@runner/common/files/lines-backward';
import { readRange } from '@runner/common/files/read';
import { inFolder } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { poll } from '@runner/common/foundation/poll';
import { markAfter, markBefore, type OutputMark } from '../run/output-marks.ts';

/** Gets text as it comes, whole lines but for the end. */
export type ShowText = (text: string) => void;

const NOTHING = new Uint8Array();
const BLOCK = 262_144;
/** How late a file's time of change may be read from the clock, in milliseconds. */
const TICK = 10;

/** Names that a file has been given when it is rotated, the newest first. */
const ROTATED = ['', '.1', '.2', '.3'] as const;

/** What runs in a slot, or without slots, prints to it. */
export function outputFile(own: InstancePaths, slot: SlotName | undefined): string {
  return join(slotPaths(own, slot).run, 'output.log');
}

/** The output of `start.type: process`; with `future` that of a later deploy too, which is followed. */
export function processFiles(own: InstancePaths, future: boolean): string[] {
  const files = [undefined, ...SLOTS].map((slot) => outputFile(own, slot));
  return files.filter((path, at) => at === 0 || future || existsSync(path));
}

/** A file that is followed, also when it is replaced or rotated. */
export class FollowedFile {
  readonly #path: string;
  #fd: number | undefined;
  #position = 0;
  #decoder = new StringDecoder('utf8');

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Its last lines, and those of the files before it; what follows them is read next. `from` is the
   * time of the first if all since `since` are shown, and some of before; `to` the time of the last, if
   * some of after `until` are shown; `isCut` if there are more.
   */
  last(
    count: number,
    { marks, since, until }: FilePeriod,
  ): { text: string; isCut: boolean; from?: number | undefined; to?: number | undefined } {
    this.#fd = openIfThere(this.#path);
    if (this.#fd === undefined) return { text: '', isCut: false };
    const own = fstatSync(this.#fd);
    this.#position = own.size;
    const older = ROTATED.slice(1).flatMap((name) => openIfThere(this.#path + name) ?? []);
    // One of them is the open file itself if it was renamed meanwhile.
    const all = [this.#fd, ...older.filter((fd) => fstatSync(fd).ino !== own.ino)];
    const end = until === undefined ? { files: all } : endIn(all, marks, until);
    const { files, size = this.#position, to } = end;
    const first = since === undefined ? WHOLE : beginningIn(files, marks, since);
    const found = lastLines(files, { size, count: count + 1, first });
    older.forEach(closeSync);
    const isCut = found.length > count;
    const lines = isCut ? found.slice(1) : found;
    const from = lines.length > 0 && !isCut ? first.from : undefined;
    const text = lines.map((line) => `${line.replace(/\n$/, '')}\n`).join('');
    return { text, isCut, from, to: lines.length > 0 ? to : undefined };
  }

  next(): string {
    const text = this.#read();
    if (text !== '' || this.#fd === undefined) return text;
    const follower = this.#follower();
    if (follower === undefined) return '';
    // What was written before it was renamed, and after the last look.
    const rest = this.#read();
    if (rest !== '') {
      closeSync(follower);
      return rest;
    }
    closeSync(this.#fd);
    [this.#fd, this.#position] = [follower, 0];
    return this.#read();
  }

  #read(): string {
    this.#fd ??= openIfThere(this.#path);
    if (this.#fd === undefined) return '';
    const { size } = fstatSync(this.#fd);
    // Truncated: it begins again.
    if (size < this.#position) this.#position = 0;
    const bytes = readRange(this.#fd, this.#position, Math.min(BLOCK, size - this.#position));
    this.#position += bytes.length;
    return this.#decoder.write(bytes);
  }

  /** The file that has replaced the open one: after a rotation the next newer, else what has its name. */
  #follower(): number | undefined {
    const { ino } = fstatSync(this.#fd as number);
    if (orElse(() => statSync(this.#path).ino, undefined) === ino) return undefined;
    let newer: number | undefined;
    for (const name of ROTATED) {
      const fd = openIfThere(this.#path + name);
      if (fd === undefined) continue;
      if (fstatSync(fd).ino === ino) {
        closeSync(fd);
        return newer;
      }
      if (newer !== undefined) closeSync(newer);
      newer = fd;
    }
    if (newer !== undefined) closeSync(newer);
    return openIfThere(this.#path);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
}

/** The wanted time, in milliseconds since 1970, and what is known of the files. */
export interface FilePeriod {
  readonly marks: readonly OutputMark[];
  readonly since: number | undefined;
  readonly until?: number | undefined;
}

/** The files that had begun at `until`, and the first place that was surely printed later. */
function endIn(
  all: readonly number[],
  marks: readonly OutputMark[],
  until: number,
): { files: readonly number[]; size?: number; to?: number | undefined } {
  const files = all.filter((fd) => fstatSync(fd).birthtimeMs <= until);
  const [newest] = files;
  if (newest === undefined) return { files };
  const stats = fstatSync(newest);
  const mark = markAfter(marks, stats, until);
  if (mark) return { files, size: mark.size, to: mark.time };
  return { files, size: stats.size, to: stats.mtimeMs > until ? stats.mtimeMs : undefined };
}

/** Where the wanted output begins, in files that are listed the newest first. */
interface Beginning {
  /** Which of the files; -1 where nothing is wanted. */
  readonly index: number;
  readonly offset: number;
  /** When it was printed, in milliseconds since 1970, if that is before what is wanted. */
  readonly from?: number | undefined;
}

const WHOLE: Beginning = { index: Number.POSITIVE_INFINITY, offset: 0 };

/** The last place that was surely printed before `since`: the end of a file, a mark, or the beginning. */
function beginningIn(
  files: readonly number[],
  marks: readonly OutputMark[],
  since: number,
): Beginning {
  let index = -1;
  for (const fd of files) {
    const stats = fstatSync(fd);
    if (stats.mtimeMs + TICK < since) return { index, offset: 0, from: stats.mtimeMs };
    index += 1;
    const mark = markBefore(marks, stats, since);
    if (mark) return { index, offset: mark.size, from: mark.time };
  }
  const oldest = files.at(-1);
  if (oldest === undefined) return { index, offset: 0 };
  const born = fstatSync(oldest).birthtimeMs;
  return { index, offset: 0, from: born > 0 && born < since ? born : undefined };
}

/** Which lines are wanted: at most `count` before `size`, from `first` on. */
interface TailRange {
  readonly size: number;
  readonly count: number;
  readonly first: Beginning;
}

/** The last lines of files, the newest first, as if they were one: a line may begin in the file before. */
function lastLines(files: readonly number[], { size, count, first }: TailRange): string[] {
  const lines: string[] = [];
  let last: string | undefined;
  const done = () => [...lines, ...(last === undefined ? [] : [last])].slice(0, count).reverse();
  for (const [index, fd] of files.entries()) {
    let isWhole = last === undefined || endsLine(fd);
    for (const { line, at } of linesBackward(fd, NOTHING, index === 0 ? { size } : {})) {
      const isBefore = index === first.index && at + line.length < first.offset;
      if ((isBefore || index > first.index) && isWhole) return done();
      const text = line.toString('utf8');
      if (isWhole && last !== undefined) lines.push(last);
      if (lines.length >= count) return lines.reverse();
      last = isWhole ? text : text + last;
      isWhole = true;
    }
  }
  return done();
}

function endsLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  return readRange(fd, Math.max(0, size - 1), 1)[0] === 0x0a;
}

function openIfThere(path: string): number | undefined {
  try {
    return inFolder(openBelowInstance(dirname(path)), (folder) => folder.openFile(basename(path)));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
}

/** Shows what comes in these files until a signal. Returns the exit status. */
export function follow(
  io: Pick<Io, 'onSignal' | 'stdout'>,
  files: readonly { readonly file: FollowedFile; readonly show: ShowText }[],
): Promise<number> {
  return poll(io, async () => {
    let isMore = false;
    for (const { file, show } of files) {
      const text = file.next();
      if (text !== '') show(text);
      isMore ||= text !== '';
    }
    return isMore ? 'more' : 'wait';
  });
}
