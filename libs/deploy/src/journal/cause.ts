/**
 * Why a step failed, from its output; and the output of a successful deploy, kept so that its noise
 * is not taken for the cause of a later failure.
 */
import { constants, openSync } from 'node:fs';
import { readRange } from '@runner/common/files/read';
import { closing } from '@runner/common/foundation/attempt';
import { readBaseline, writeBaseline } from '@runner/extract/baseline-file';
import { createExtractor, createShapeReader } from '@runner/extract/extract';
import type { ProcessExit } from '../run/child.ts';
import type { LogPart } from '../run/log.ts';
import type { StepFailure } from '../run/step.ts';
import type { Operation } from './operation.ts';

/** Limit of a step's output, in bytes, from its end: a few seconds for the extractor. */
const FAILED_OUTPUT_MAX = 268_435_456;
const GOOD_OUTPUT_MAX = 16_777_216;
const BLOCK = 262_144;

/**
 * The lines that say why the step failed; '' if it printed nothing and its exit is unknown. Never
 * throws: without a cause the failure is still reported with its full error.
 */
export function causeOf(op: Operation, error: StepFailure): string {
  // Its last line would be taken for the cause.
  if (error.blame === 'operator') return '';
  try {
    const { ended, stage, output } = error;
    const part = ended?.part;
    const extractor = createExtractor({
      redact: op.redact,
      baseline: readBaseline(op.paths, op.app.app, part?.step),
      ...(ended && {
        step: stage,
        ...(ended.label !== undefined && { label: ended.label }),
        command: op.redact(ended.title),
        exit: exitOf(ended.exit),
      }),
    });
    if (part) readPart(op, part, FAILED_OUTPUT_MAX, extractor.push);
    else extractor.push(output);
    const { text, rule } = extractor.end();
    // What an app printed may be no complaint at all.
    const isCalm = rule === null && text !== '';
    const seen = error.seen ?? (isCalm && !ended ? op.redact(error.message) : '');
    // It comes first, since `history` and messages show the first line.
    return [seen, complaintIn(op, error.printed), text].filter(Boolean).join('\n');
  } catch {
    return '';
  }
}

/** The lines of an app's output that say what is wrong; '' if it does not complain. */
function complaintIn({ redact }: Operation, printed = ''): string {
  const extractor = createExtractor({ redact });
  extractor.push(printed);
  const { text, rule } = extractor.end();
  return rule === null ? '' : text;
}

function exitOf({ code, signal, timedOut }: ProcessExit): object {
  return { ...(code !== null && { code }), ...(signal !== null && { signal }), timedOut };
}

/** Keeps the shapes of the output of a successful deploy. An error is only noted. */
export function keepBaseline(op: Operation): void {
  try {
    const readers = new Map<string, ReturnType<typeof createShapeReader>>();
    for (const part of op.log.parts) {
      const reader = readers.get(part.step) ?? createShapeReader(op.redact);
      readers.set(part.step, reader);
      readPart(op, part, GOOD_OUTPUT_MAX, reader.push);
    }
    const steps = new Map([...readers].map(([step, reader]) => [step, reader.end()]));
    writeBaseline(op.paths, op.app.app, op.deployId, steps);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    op.reporter.note(`the output of this deploy could not be kept for comparison: ${why}`);
  }
}

function readPart(
  { log }: Operation,
  { from, to }: LogPart,
  most: number,
  push: (chunk: Uint8Array) => void,
): void {
  const fd = openSync(log.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  using _file = closing(fd);
  for (let at = Math.max(from, to - most); at < to; at += BLOCK) {
    push(readRange(fd, at, Math.min(BLOCK, to - at)));
  }
}
