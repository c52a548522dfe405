/** The steps of an operation, and running them: the journal has each before it runs. */
import { setImmediate as turn } from 'node:timers/promises';
import type { SlotName } from '@runner/common/apps/slots';
import { asStepFailure, interruption, refuseInterrupted, type Stage } from '../run/step.ts';
import { enterStage } from './journal.ts';
import type { Operation } from './operation.ts';

/** One step. What it does is undone by what the journal has, also after a kill. */
export interface Step {
  readonly stage: Stage;
  /** What is reported; the same title as the step before continues it. */
  readonly title?: string | undefined;
  readonly instance?: string | undefined;
  readonly slot?: SlotName | undefined;
  readonly isTouched?: boolean;
  /** Takes no time worth a stage: the journal and the record stay in the one before. */
  readonly isBrief?: boolean;
  run(): unknown;
}

/** Runs steps, made one after the other, until one fails. Returns that one. */
export async function runSteps(op: Operation, steps: Iterable<Step>) {
  const { reporter } = op;
  let shown: string | undefined;
  let now: Step | undefined;
  let isOver = false;
  try {
    for (const step of steps) {
      now = step;
      isOver = false;
      if (step.title !== shown) {
        if (shown !== undefined) reporter.done();
        shown = undefined;
      }
      refuseInterrupted(op.signal, step.stage);
      const touched = step.isTouched ? step.instance : undefined;
      if (!step.isBrief) enterStage(op, step.stage, step.slot, touched);
      if (step.title !== shown) reporter.begin(step.title as string);
      shown = step.title;
      await step.run();
      isOver = true;
    }
    if (shown !== undefined) reporter.done();
    return undefined;
  } catch (error) {
    // What could not make the next step is not a fault of the last one.
    if (shown !== undefined) isOver ? reporter.done() : reporter.failed();
    const failure = asStepFailure(error, now?.stage ?? 'config');
    // A server that shuts down ends the app, too: its signal may wait behind what asked for the app.
    await turn();
    const isItsOwn = !op.signal.aborted || failure.blame === 'operator';
    return { error: isItsOwn ? failure : interruption(failure.stage), step: now };
  }
}

/** Runs steps. Throws the StepFailure of the first that fails. */
export async function runOrThrow(op: Operation, steps: Iterable<Step>): Promise<void> {
  const failed = await runSteps(op, steps);
  if (failed) throw failed.error;
}
