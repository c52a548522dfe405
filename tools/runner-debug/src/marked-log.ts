/** The lines of a kept log, those that say why the deploy failed marked; read in passing. */

import { readRange } from '@runner/common/files/read';
import type { Paths } from '@runner/common/foundation/paths';
import type { Redact } from '@runner/common/redaction/known-secrets';
import { readBaseline } from '@runner/extract/baseline-file';
import { createExtractor, createLineReader, type Extraction } from '@runner/extract/extract';
import type { KeptLog } from './kept-log.ts';

const BLOCK = 65_536;
/** Before the end of a failed health check, its last two answers are looked for in this many bytes. */
const LAST_MAX = 262_144;
const NEWLINE = 0x0a;
const ANSWER = '\nhealth: attempt ';

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
export function causeIn(log: KeptLog, paths: Paths, redact: Redact): Extraction | null {
  if (log.event === 'DeploySuccess') return null;
  const extractor = createExtractor({
    redact,
    baseline: readBaseline(paths, log.app),
  });
  const failed = { ...log, size: endOfFailure(log) };
  const from = startOfFailure(failed);
  let at = 0;
  for (const block of blocksOf(failed)) {
    const skipped = Math.min(block.length, Math.max(0, from - at));
    // Lines that are passed over count all the same.
    extractor.push(block.subarray(0, skipped).filter((byte) => byte === NEWLINE));
    extractor.push(block.subarray(skipped));
    at += block.length;
  }
  const found = extractor.end();
  return found.rule === null ? lastAnswer(failed, found, from > 0, redact) : found;
}

/**
 * Where the way back begins, in bytes: below the line that says what failed. What the version before
 * printed when it was started again is no cause. The whole log when it has no such line.
 */
function endOfFailure(log: KeptLog): number {
  if (log.headline === null) return log.size;
  const wanted = Buffer.from(`\n${log.headline}\n`);
  // It may be the first line, and it may lie across the end of a block.
  let carried: Buffer = Buffer.from('\n');
  let at = -1;
  for (const block of blocksOf(log)) {
    const text = Buffer.concat([carried, block]);
    const found = text.indexOf(wanted);
    if (found !== -1) return at + found + wanted.length;
    const kept = Math.min(text.length, wanted.length - 1);
    at += text.length - kept;
    carried = text.subarray(text.length - kept);
  }
  return log.size;
}

/**
 * Where what a failed health check found begins, in bytes: with its last answer, or below it when what
 * the app said follows. Neither the build nor the answers before are the cause.
 */
function startOfFailure({ fd, size, stage, headline }: KeptLog): number {
  if (stage !== 'health' || headline === null) return 0;
  const begin = Math.max(0, size - LAST_MAX);
  const text = readRange(fd, begin, size - begin);
  const last = text.lastIndexOf(ANSWER);
  if (last === -1) return 0;
  const below = text.indexOf(NEWLINE, last + 1) + 1;
  const printed = text.subarray(below).toString('utf8').trim();
  if (printed !== '' && printed !== headline) return begin + below;
  const before = last === 0 ? -1 : text.lastIndexOf(ANSWER, last - 1);
  return before === -1 ? 0 : begin + text.indexOf(NEWLINE, before + 1) + 1;
}

/**
 * Where no rule knows the cause: the last answer of the health check, when that failed and was not
 * looked at alone; else what was found, without the commands that the pipeline wrote above their output.
 */
function lastAnswer(log: KeptLog, found: Extraction, alone: boolean, redact: Redact): Extraction {
  const texts = new Map<number, string>();
  const wanted = new Set(found.lines);
  let answer: [number, string] | undefined;
  const reader = createLineReader((text, line) => {
    if (wanted.has(line) && !text.startsWith('$ ')) texts.set(line, redact(text));
    if (text.startsWith('health: attempt ')) answer = [line, redact(text)];
  });
  for (const block of blocksOf(log)) reader.push(block);
  reader.end();
  const chosen = log.stage === 'health' && answer && !alone ? [answer] : [...texts];
  return {
    ...found,
    text: chosen.map(([, text]) => text).join('\n'),
    lines: chosen.map(([line]) => line),
  };
}

/** Batches of lines, some 64 KiB each. What a progress bar drew over is left out, unless it is the cause. */
export function* linesOf(
  log: KeptLog,
  cause: Extraction | null,
  redact: Redact,
): Generator<LogLine[]> {
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
