/** Running an operation: its steps, and undoing them if one fails. */
import { markFailed } from '../journal/journal.ts';
import type { Operation } from '../journal/operation.ts';
import { runSteps, type Step } from '../journal/step.ts';
import type { StepFailure } from '../run/step.ts';
import type { Undone } from './restore.ts';
import { undo } from './undo.ts';

/** Why an operation failed, and what became of the instances that it had touched. */
export interface Failed {
  readonly error: StepFailure;
  /** The step that failed; undefined before the first one. */
  readonly step: Pick<Step, 'instance' | 'slot'> | undefined;
  readonly moves: readonly Undone[];
}

/**
 * Runs the steps of an operation, and undoes them if one fails; `explain` finds more of the reason
 * while everything is still there. Never throws a StepFailure.
 */
export async function execute(
  op: Operation,
  steps: Iterable<Step>,
  explain: (error: StepFailure) => StepFailure = (error) => error,
): Promise<Failed | undefined> {
  const failed = await runSteps(op, steps);
  if (!failed) return undefined;
  const error = explain(failed.error);
  // The log names the failure before it is undone: `debug log` looks for the cause above. That of a
  // program is there already.
  if (!error.ended) op.log.line(error.message);
  markFailed(op, error);
  const moves = op.journal ? await undo(op, op.journal) : [];
  return { error, step: failed.step, moves };
}
