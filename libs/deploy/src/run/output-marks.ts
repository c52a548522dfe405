/**
 * How long the output of an app was, and when: its lines carry no times. A start and each `runner fetch`
 * add marks to `apps/<app>/output.marks`, which the app cannot reach from its sandbox.
 */
import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { appendTo, writeWhole } from '@runner/common/files/write';
import { orElse } from '@runner/common/foundation/attempt';

/** Marks of one app; then the older ones are thinned out. */
const MARKS_MAX = 1_000;
/** Bytes; some marks that were added at once may be beyond MARKS_MAX. */
const FILE_MAX = 4_194_304;

/** The size of a file at a time, in milliseconds since 1970. */
export interface OutputMark {
  readonly time: number;
  /** What identifies the file under any name. */
  readonly file: string;
  readonly size: number;
  readonly path: string;
}

const marksIn = (folder: string) => join(folder, 'output.marks');

/** A number is given to another file once the first is gone; not with the same time of birth. */
export function identityOf({ ino, birthtimeMs }: Stats): string {
  return `${ino}-${Math.round(birthtimeMs)}`;
}

/** The marks of an app's folder, the oldest first. What cannot be read is left out. */
export function readMarks(folder: string): OutputMark[] {
  return orElse(() => marksOf(folder), []);
}

function marksOf(folder: string): OutputMark[] {
  const text = readTextIfThere(marksIn(folder), FILE_MAX) ?? '';
  return text.split('\n').flatMap((line) => markOf(line) ?? []);
}

function markOf(line: string): OutputMark | undefined {
  try {
    const [time, file, size, path] = JSON.parse(line);
    return Number.isFinite(time) && size >= 0 ? { time, file, size, path } : undefined;
  } catch {
    return undefined; // Half a line, of a full disk.
  }
}

const textOf = (marks: readonly OutputMark[]) =>
  marks
    .map(({ time, file, size, path }) => `${JSON.stringify([time, file, size, path])}\n`)
    .join('');

/**
 * Marks what has grown of `paths` and of what was marked before. Never throws: without a mark less is
 * known, and nothing else.
 */
export function markOutput(folder: string, paths: readonly string[] = []): void {
  try {
    const marks = marksOf(folder);
    const added = newMarks(marks, paths);
    if (added.length === 0) return;
    if (marks.length < MARKS_MAX) appendTo(marksIn(folder), textOf(added), 0o600);
    else writeWhole(marksIn(folder), textOf([...thinned(marks), ...added]));
  } catch {
    // A full disk, or the app has just been removed.
  }
}

function newMarks(marks: readonly OutputMark[], paths: readonly string[]): OutputMark[] {
  const last = new Map(marks.map((mark) => [mark.path, mark]));
  return [...new Set([...last.keys(), ...paths])].flatMap((path) => {
    const stats = fileAt(path);
    if (stats === undefined) return [];
    const file = identityOf(stats);
    const before = last.get(path);
    if (before?.file === file && before.size === stats.size) return [];
    return { time: Date.now(), file, size: stats.size, path };
  });
}

function fileAt(path: string): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? stats : undefined;
}

/** Every second mark of each file that is there, and all of the newer half. */
function thinned(marks: readonly OutputMark[]): OutputMark[] {
  const counts = new Map<string, number>();
  return marks.filter(({ path }, at) => {
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    return fileAt(path) !== undefined && (at >= marks.length / 2 || count % 2 === 1);
  });
}

/** The first mark of a file at `time` or later; undefined if there is none, or it was truncated since. */
export function markAfter(
  marks: readonly OutputMark[],
  stats: Stats,
  time: number,
): OutputMark | undefined {
  const file = identityOf(stats);
  const found = marks.find((mark) => mark.file === file && mark.time >= time);
  return found && found.size <= stats.size ? found : undefined;
}

/** The last mark of a file before `time`; undefined if there is none, or it was truncated since. */
export function markBefore(
  marks: readonly OutputMark[],
  stats: Stats,
  time: number,
): OutputMark | undefined {
  const file = identityOf(stats);
  let next = stats.size;
  for (const mark of marks.toReversed()) {
    if (mark.file !== file) continue;
    if (mark.size > next) return undefined;
    if (mark.time < time) return mark;
    next = mark.size;
  }
  return undefined;
}
