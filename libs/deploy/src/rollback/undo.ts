/** A manual rollback moves an instance, and returns all that it moved when one of them fails. */
import { fileOfRelease } from '../instances/kept-file.ts';
import { blockingMoves, stopAll, switchBack } from '../instances/switch-back.ts';
import { keptTarget, uninterrupted } from '../instances/target.ts';
import { failedState } from '../journal/after-failure.ts';
import type { KeptMove } from '../journal/after-rollback.ts';
import { announce, eventsOf } from '../journal/events.ts';
import { markFailed, markStageAnyway, writeEnd } from '../journal/mark.ts';
import { type Job, type Operation, problemsOf } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { asStepFailure, failureOf, type StepFailure } from '../run/step.ts';
import type { RollbackOutcome } from './outcome.ts';

export type RollbackJob = Operation &
  Pick<Job, 'deployId' | 'trigger' | 'log' | 'sandbox' | 'notifier'>;
export type Moves = readonly [KeptMove, ...KeptMove[]];

/** Makes `to` active instead of `from`, each as its own `.deploy.yml` says. */
export function moveOne(
  job: RollbackJob,
  { instance, from, to }: KeptMove,
  secrets: 'today' | 'started',
): Promise<void> {
  const base = uninterrupted(job, secrets);
  const running = keptTarget(base, instance, from);
  return switchBack(base, instance, running, to, (stage, body) => {
    if (stage !== 'switch') markStageAnyway(job, stage);
    return body();
  });
}

/** Restores what was active, and records the failure. */
export async function undo(
  job: RollbackJob,
  touched: readonly KeptMove[],
  move: KeptMove,
  cause: unknown,
): Promise<Pick<RollbackOutcome, 'version' | 'error' | 'rollback_error'>> {
  const failure = asStepFailure(cause, 'start');
  const headline = job.redact(failure.message);
  markFailed(job, failure, headline);
  const returned = await returnAll(job, touched);
  const problem = problemsOf(returned, 'return').join('; ') || undefined;
  const error = [headline, problem, failure.output.trimEnd()].filter(Boolean).join('\n');
  announce(job, failureEvents(job, move, failure, error, problem));
  const { commit, version } = move.to;
  const { deployId } = job;
  const { stage, blame } = failure;
  writeEnd(job, (now) => {
    const at = job.io.now();
    return failedState(
      now,
      { commit, version, deployId, stage, error, blame, byHand: true, at },
      returned,
    );
  });
  return problem
    ? { version: null, error, rollback_error: problem }
    : { version: move.from.version, error };
}

/** Returns each instance to what it ran, last first; one that fails does not stop the others. */
async function returnAll(job: RollbackJob, moves: readonly KeptMove[]): Promise<KeptMove[]> {
  const returned: KeptMove[] = [];
  const back = [...moves].reverse().map((move) => ({ ...move, from: move.to, to: move.from }));
  // What cannot be stopped here is reported by its own return.
  await stopAll(blockingMoves(uninterrupted(job), back)).catch(() => {});
  for (const move of back) {
    const { instance, to } = move;
    const step = `return ${instance} to ${to.version}`;
    const goBack = () => moveOne(job, move, 'started');
    const failure = await failureOf('start', () => reported(job.reporter, step, goBack));
    returned.push({ ...move, problem: failure && job.redact(failure.message) });
  }
  return returned;
}

/** `problem` is why the previous version could not be restored either. */
function failureEvents(
  job: RollbackJob,
  { instance, from, to }: KeptMove,
  { stage }: StepFailure,
  error: string,
  problem: string | undefined,
) {
  const origin = { ...job, commit: to.commit, version: to.version };
  const file = fileOfRelease(job.paths, job.app.app, to);
  return eventsOf(origin, 'DeployFailure', [instance], file, {
    ...{ stage, error },
    log: job.log.path,
    // As in every event of a manual rollback: it does not end a deploy.
    from_version: from.version,
    previous_version: from.version,
    ...(problem !== undefined && { rolled_back: false, reason: problem }),
  });
}
