/**
 * Source `output`: lines of errors that the version before never printed. What counts is a second in which
 * there is one: a stack trace, or a loop that prints, is one event.
 */

import { orElse } from '@runner/common/foundation/attempt';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { createLineReader, isErrorLine, lineShape } from '@runner/extract/extract';
import { appFolderOf, type Target } from '../instances/drivers/driver.ts';
import { type FilePeriod, FollowedFile, type ShowText } from '../lifecycle/followed.ts';
import { outputOf } from '../lifecycle/output.ts';
import { showProgram } from '../lifecycle/show.ts';
import { type OutputMark, readMarks } from '../run/output-marks.ts';
import { SequentialTest } from './sequence.ts';
import type { WatchSource } from './source.ts';

/** One second in 200 with a new error is usual; what is broken prints one every other second. */
const SHARES = { usual: 0.005, broken: 0.5 };
/** What is printed at first may be of the start, and does not count. In ms. */
const STARTING = 3_000;
/** Lines of the version before, and shapes of lines that are remembered. */
const BEFORE_MAX = 5_000;
const SHAPES_MAX = 20_000;
/** Blocks of a file that are read at one look, of 256 KiB: what prints more must not hold up the other sources. */
const BLOCKS_MAX = 16;
/** Longest time to read what was printed before, in ms. */
const PATIENCE = 10_000;
/** Characters of a line that is shown. */
const SHOWN_MAX = 160;

/** What is looked at; what was printed before `from`, in ISO 8601, is of the version before. */
export interface WatchedOutput {
  readonly io: Io;
  readonly paths: Paths;
  readonly target: Target;
  readonly from: string;
  /** There is no version before: none of its lines is new. */
  readonly isFirst: boolean;
}

/** undefined where no one knows what the instance prints. */
export function outputSource(
  watched: WatchedOutput,
  elapsed: () => number,
): WatchSource | undefined {
  const { target } = watched;
  const test = new SequentialTest(SHARES);
  const known = new Set<string>();
  let first: string | undefined;
  let lastError: string | undefined;
  let isNew = false;
  const shapes = errorShapes((_line, shape) => {
    if (known.size < SHAPES_MAX) known.add(shape);
  });
  const errors = errorShapes((line, shape) => {
    lastError = harmlessLine(target.redact(line)).slice(0, SHOWN_MAX);
    if (watched.isFirst || elapsed() < STARTING || known.has(shape)) return;
    first ??= lastError;
    isNew = true;
  });
  const reading = readingOf(watched, shapes, errors);
  if (!reading) return undefined;
  let begun: Promise<void> | undefined;
  return {
    name: `output of ${target.instance.name}`,
    every: 1_000,
    async look() {
      begun ??= reading.begin();
      await begun;
      reading.next();
      if (elapsed() >= STARTING) test.add(isNew ? 1 : 0, 1);
      isNew = false;
    },
    get finding() {
      return test.finding;
    },
    isQuick: true,
    get lastError() {
      return lastError;
    },
    get words() {
      if (watched.isFirst) return 'no version before to compare with';
      return first === undefined
        ? 'no new error lines'
        : `new error lines in ${test.failed} of ${test.count} s, first: ${first}`;
    },
    close: reading.end,
  };
}

function errorShapes(each: (line: string, shape: string) => void): ShowText {
  const reader = createLineReader((text) => {
    const line = text.trim();
    if (line !== '' && isErrorLine(line)) each(line, lineShape(line));
  });
  return reader.push;
}

/** Reading what an instance prints; undefined where no one knows. */
function readingOf({ io, paths, target, from }: WatchedOutput, before: ShowText, after: ShowText) {
  let handlers: (() => void)[] = [];
  let followed: readonly FollowedFile[] = [];
  const until = {
    stdout: io.stdout,
    onSignal(handler: (signal: NodeJS.Signals) => void) {
      handlers.push(() => handler('SIGTERM'));
      return () => {};
    },
  };
  const end = () => {
    for (const each of handlers) each();
    for (const file of followed) file.close();
    followed = [];
  };
  const extent = { lines: BEFORE_MAX, timestamps: false };
  const isBeside = target.slot !== undefined;
  // What ran in its slot before it may have been left for the same errors.
  const others = isBeside ? ({ slots: 'others', until: undefined } as const) : { until: from };
  const old = { ...extent, follow: false, since: undefined, ...others };
  const own = { ...extent, follow: true, since: from, until: undefined, slots: 'own' as const };
  const outputs = orElse(
    () => ({ old: outputOf(paths, target, old), own: outputOf(paths, target, own) }),
    undefined,
  );
  if (!outputs) return undefined;
  return {
    /** What was printed before the release, and by it so far. */
    async begin() {
      const timer = setTimeout(end, PATIENCE);
      const marks = readMarks(appFolderOf(target.paths));
      const files = outputs.own.flatMap((each) => ('files' in each ? each.files : []));
      const starts = new Map(files.map((path) => [path, startIn(marks, path, Date.parse(from))]));
      for (const each of outputs.old) {
        if (!('files' in each)) await showProgram(until, each, false, before).catch(() => {});
        else
          for (const path of each.files)
            before(lastOf(path, { marks, since: undefined, until: starts.get(path) }));
      }
      clearTimeout(timer);
      handlers = [];
      for (const each of outputs.own)
        if (!('files' in each)) showProgram(until, each, true, after).catch(() => {});
      followed = files.map((path) => {
        const file = new FollowedFile(path);
        after(file.last(BEFORE_MAX, { marks, since: (starts.get(path) as number) + 1 }).text);
        return file;
      });
    },
    /** What has come in files since; what a program shows is read as it comes. */
    next() {
      for (const file of followed)
        for (let block = 0; block < BLOCKS_MAX; block += 1) {
          const text = file.next();
          if (text === '') break;
          after(text);
        }
    },
    end,
  };
}

/** When what runs began to print to a file: its start marks it, unless it had not grown since the mark before. */
function startIn(marks: readonly OutputMark[], file: string, from: number): number {
  const own = marks.filter(({ path }) => path === file);
  return (own.find(({ time }) => time >= from) ?? own.at(-1))?.time ?? from;
}

function lastOf(path: string, period: FilePeriod): string {
  const file = new FollowedFile(path);
  const { text } = file.last(BEFORE_MAX, period);
  file.close();
  return text;
}
