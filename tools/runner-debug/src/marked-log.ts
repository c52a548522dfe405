/** The lines of a kept log, those that say why the deploy failed marked; read in passing. */
import { readBaseline } from '@runner/common/baselines';
import { createExtractor, createLineReader, type Extraction } from '@runner/common/error-extract';
import { readRange } from '@runner/common/files';
import type { Paths } from '@runner/common/paths';
import { redactor } from '@runner/common/secret';
import type { KeptLog } from './kept-log.ts';

const BLOCK = 65_536;

/** A line of the log as it is shown: cleaned of escapes and secrets. */
export interface LogLine {
  /** Its number in the file, from 1. */
  readonly line: number;
  readonly text: string;
  /** Whether it is among the lines that say why. */
  readonly marked: boolean;
  /** Only there, and true, when the line is longer than what is shown of it. */
  readonly cut?: true;
}

/** Why the deploy failed; null for one that succeeded. */
export function causeIn(log: KeptLog, paths: Paths): Extraction | null {
  if (log.event === 'DeploySuccess') return null;
  const extractor = createExtractor({
    redact: redactor(),
    baseline: readBaseline(paths, log.app),
  });
  for (const block of blocksOf(log)) extractor.push(block);
  const found = extractor.end();
  return found.rule === null ? lastAnswer(log, found) : found;
}

/**
 * Where no rule knows the cause: the last answer of the health check, when that failed; else what was
 * found, without the commands that the pipeline wrote above their output.
 */
function lastAnswer(log: KeptLog, found: Extraction): Extraction {
  const redact = redactor();
  const texts = new Map<number, string>();
  const wanted = new Set(found.lines);
  let answer: [number, string] | undefined;
  const reader = createLineReader((text, line) => {
    if (wanted.has(line) && !text.startsWith('$ ')) texts.set(line, redact(text));
    if (text.startsWith('health: attempt ')) answer = [line, redact(text)];
  });
  for (const block of blocksOf(log)) reader.push(block);
  reader.end();
  const chosen = log.stage === 'health' && answer ? [answer] : [...texts];
  return {
    ...found,
    text: chosen.map(([, text]) => text).join('\n'),
    lines: chosen.map(([line]) => line),
  };
}

/** Batches of lines, some 64 KiB each. What a progress bar drew over is left out, unless it is the cause. */
export function* linesOf(log: KeptLog, cause: Extraction | null): Generator<LogLine[]> {
  const redact = redactor();
  const marks = new Set(cause?.lines);
  let batch: LogLine[] = [];
  const reader = createLineReader((text, line, overwritten, cut) => {
    const marked = marks.has(line);
    const shown = redact(text);
    if (overwritten && !(marked && shown !== '' && cause?.text.includes(shown.trim()))) return;
    batch.push({ line, text: shown, marked, ...(cut && { cut }) });
  });
  for (const block of blocksOf(log)) {
    reader.push(block);
    yield batch;
    batch = [];
  }
  reader.end();
  yield batch;
}

function* blocksOf({ fd, size }: KeptLog): Generator<Buffer> {
  for (let at = 0; at < size; at += BLOCK) yield readRange(fd, at, Math.min(BLOCK, size - at));
}
