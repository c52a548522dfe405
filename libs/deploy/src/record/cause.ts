/**
 * Why a step failed, out of what it printed; and what a good deploy printed, kept so that its noise
 * is not taken for the cause of a later failure.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { readRange } from '@runner/common/files/read';
import type { Ending } from '../run/child.ts';
import type { Part } from '../run/log.ts';
import type { StepFailure } from '../run/step.ts';
import type { Job } from './job.ts';

/** Bytes of a step's output that are read at most, its end first: some seconds for the extractor. */
const FAILED_MAX = 268_435_456;
const GOOD_MAX = 16_777_216;
const BLOCK = 262_144;

/**
 * The lines that say why the step failed; '' when it printed nothing and how it ended is unknown.
 * Never throws: without a cause the failure is told with its whole error all the same.
 */
export async function causeOf(job: Job, error: StepFailure): Promise<string> {
  try {
    const { createExtractor } = await import('@runner/extract/extract');
    const { readBaseline } = await import('@runner/extract/baseline-file');
    const { ended, stage, output } = error;
    const part = ended?.part;
    const extractor = createExtractor({
      redact: job.redact,
      baseline: readBaseline(job.paths, job.app.app, part?.step),
      ...(ended && { step: stage, command: ended.title, exit: exitOf(ended.ending) }),
    });
    if (part) readPart(job, part, FAILED_MAX, extractor.push);
    else extractor.push(output);
    return extractor.end().text;
  } catch {
    return '';
  }
}

function exitOf({ code, signal, timedOut, interrupted }: Ending): object {
  // A signal that the operator sent explains itself in the headline.
  if (interrupted) return {};
  return { ...(code !== null && { code }), ...(signal !== null && { signal }), timedOut };
}

/** Keeps the shapes of what the steps of a good deploy printed. That it fails is only told. */
export async function keepBaseline(job: Job): Promise<void> {
  try {
    const { createShapeReader } = await import('@runner/extract/extract');
    const { writeBaseline } = await import('@runner/extract/baseline-file');
    const readers = new Map<string, ReturnType<typeof createShapeReader>>();
    for (const part of job.log.parts) {
      const reader = readers.get(part.step) ?? createShapeReader(job.redact);
      readers.set(part.step, reader);
      readPart(job, part, GOOD_MAX, reader.push);
    }
    const steps = new Map([...readers].map(([step, reader]) => [step, reader.end()]));
    writeBaseline(job.paths, job.app.app, job.deployId, steps);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    job.reporter.note(`what this deploy printed could not be kept for comparison: ${why}`);
  }
}

function readPart(
  { log }: Job,
  { from, to }: Part,
  most: number,
  push: (chunk: Uint8Array) => void,
): void {
  const fd = openSync(log.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (let at = Math.max(from, to - most); at < to; at += BLOCK) {
      push(readRange(fd, at, Math.min(BLOCK, to - at)));
    }
  } finally {
    closeSync(fd);
  }
}
