/** Reads a kept log in blocks, and marks the lines that say why the deploy failed. */

import { StringDecoder } from 'node:string_decoder';
import { readRange } from '@runner/common/files/read';
import type { Paths } from '@runner/common/foundation/paths';
import type { Redact } from '@runner/common/redaction/known-secrets';
import type { Redactor } from '@runner/common/secrets/redactor';
import { withoutPictures } from '@runner/common/text/pictures';
import { readBaseline } from '@runner/extract/baseline-file';
import { createExtractor, createLineReader, type Extraction } from '@runner/extract/extract';
import type { KeptLog } from './kept-log.ts';

const BLOCK = 65_536;
/** The last two answers of a failed health check are searched for in this many bytes at the end. */
const LAST_MAX = 262_144;
const NEWLINE = 0x0a;
const ANSWER = '\nhealth: attempt ';

/** A line of the log for display: without escape sequences and secrets. */
export interface LogLine {
  /** Its number in the file, from 1. */
  readonly line: number;
  readonly text: string;
  /** Whether it is among the lines that say why. */
  readonly marked: boolean;
  /** true if the line is longer than shown; otherwise absent. */
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
    // Skipped lines still count for the line numbers.
    extractor.push(block.subarray(0, skipped).filter((byte) => byte === NEWLINE));
    extractor.push(block.subarray(skipped));
    at += block.length;
  }
  const found = extractor.end();
  return found.rule === null ? lastAnswer(failed, found, from > 0, redact) : found;
}

/**
 * Where the rollback begins, in bytes: below the line that says what failed. What the previous version
 * prints when it is started again is not the cause. The end of the log without such a line.
 */
function endOfFailure(log: KeptLog): number {
  if (log.headline === null) return log.size;
  const wanted = Buffer.from(`\n${log.headline}\n`);
  // It may be the first line, and it may cross the end of a block.
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
 * Where the result of a failed health check begins, in bytes: at its last answer, or below it if the
 * app's own output follows. Neither the build nor earlier answers are the cause.
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
 * When no rule knows the cause: the last answer of a failed health check, unless only that was searched;
 * otherwise what was found, without the commands that the pipeline wrote above their output.
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

/** Batches of lines, about 64 KiB each. Overwritten progress bars are left out, unless they are the cause. */
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

/** The log with the control characters that its steps printed, about 64 KiB each. */
export function* rawTexts(log: KeptLog, redact: Redactor): Generator<string> {
  const decoder = new StringDecoder('utf8');
  let held = '';
  for (const block of blocksOf(log)) {
    const text = held + withoutPictures(decoder.write(block));
    const at = Math.min(redact.unfinishedAt(text), text.lastIndexOf('\n') + 1 || text.length);
    held = text.slice(at);
    yield redact(text.slice(0, at));
  }
  yield redact(held + decoder.end());
}

function* blocksOf({ fd, size }: KeptLog): Generator<Buffer> {
  for (let at = 0; at < size; at += BLOCK) yield readRange(fd, at, Math.min(BLOCK, size - at));
}
