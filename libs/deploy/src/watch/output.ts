/**
 * Source `output`: lines of errors that were never printed before. What counts is a second in which there
 * is one: a stack trace, or a loop that prints, is one event.
 */
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { createLineReader, isErrorLine, lineShape } from '@runner/extract/extract';
import type { Target } from '../instances/drivers/driver.ts';
import { FollowedFile, follow, type ShowText } from '../lifecycle/followed.ts';
import { outputOf } from '../lifecycle/output.ts';
import { showProgram } from '../lifecycle/show.ts';
import { SequentialTest } from './sequence.ts';
import type { WatchSource } from './source.ts';

/** One second in 200 with a new error is usual; what is broken prints one every other second. */
const SHARES = { usual: 0.005, broken: 0.5 };
/** What is shown at first, of the version before and of this one while it starts, is known. In ms. */
const STARTING = 3_000;
/** Lines from before, and shapes of lines that are remembered. */
const BEFORE_MAX = 5_000;
const SHAPES_MAX = 20_000;
/** Characters of a line that is shown. */
const SHOWN_MAX = 160;

/** undefined where no one knows what the instance prints. */
export function outputSource(
  io: Io,
  paths: Paths,
  target: Target,
  elapsed: () => number,
): WatchSource | undefined {
  const test = new SequentialTest(SHARES);
  const known = new Set<string>();
  let first: string | undefined;
  let isNew = false;
  const reader = createLineReader((text) => {
    const line = text.trim();
    if (line === '' || !isErrorLine(line)) return;
    const shape = lineShape(line);
    if (elapsed() < STARTING && known.size < SHAPES_MAX) known.add(shape);
    if (known.has(shape) || elapsed() < STARTING) return;
    first ??= harmlessLine(target.redact(line)).slice(0, SHOWN_MAX);
    isNew = true;
  });
  const end = followed(io, paths, target, reader.push);
  if (!end) return undefined;
  return {
    name: `output of ${target.instance.name}`,
    every: 1_000,
    look() {
      if (elapsed() >= STARTING) test.add(isNew ? 1 : 0, 1);
      isNew = false;
    },
    get finding() {
      return test.finding;
    },
    get words() {
      return first === undefined
        ? 'no new error lines'
        : `new error lines in ${test.failed} of ${test.count} s, first: ${first}`;
    },
    close: end,
  };
}

/** Shows what comes until it is ended by what this returns; undefined if runner does not know where it goes. */
function followed(io: Io, paths: Paths, target: Target, show: ShowText): (() => void) | undefined {
  const ends: (() => void)[] = [];
  const until = {
    stdout: io.stdout,
    onSignal(handler: (signal: NodeJS.Signals) => void) {
      ends.push(() => handler('SIGTERM'));
      return () => {};
    },
  };
  const wanted = { lines: BEFORE_MAX, follow: true, since: undefined, until: undefined };
  try {
    for (const output of outputOf(paths, target, { ...wanted, timestamps: false })) {
      if (!('files' in output)) {
        showProgram(until, output, true, show).catch(() => {});
        continue;
      }
      const files = output.files.map((path) => ({ file: new FollowedFile(path), show }));
      for (const { file } of files)
        show(file.last(BEFORE_MAX, { marks: [], since: undefined }).text);
      follow(until, files).catch(() => {});
    }
  } catch {
    return undefined;
  }
  return () => {
    for (const each of ends) each();
  };
}
