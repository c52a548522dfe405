/** The way back from a release that was judged bad is finished after a kill: that release never serves again. */
import type { Target } from '../instances/drivers/driver.ts';
import { activation } from '../instances/steps.ts';
import { keptTarget } from '../instances/target.ts';
import { type KeptMove, recordedMoves } from '../journal/after-rollback.ts';
import { markFailed, secretsStarting } from '../journal/journal.ts';
import type { Journal, Operation } from '../journal/operation.ts';
import { runSteps } from '../journal/step.ts';
import { StepFailure } from '../run/step.ts';

/** Why the way back was begun; undefined: a watch did not begin this rollback, which ends any watch of others. */
export function wayBackReason({ app }: Operation): string | undefined {
  const { deploying, watch, watched } = app;
  return deploying?.rollback && watch && watched ? `watch: ${watched.reason}` : undefined;
}

/** What a rollback starts. Throws a StepFailure if its `.deploy.yml` cannot be read. */
export function goalOf(op: Operation, { instance, to }: KeptMove): Target {
  const target = keptTarget(op, instance, to);
  if (target) return target;
  const words = `${to.version} cannot be restored: its .deploy.yml cannot be read`;
  throw new StepFailure('switch', words, { blame: 'server' });
}

/** `op` is that of the dead process. Returns the journal of what failed, which is to be undone. */
export async function finishWayBack(op: Operation, journal: Journal): Promise<Journal | undefined> {
  const own: Operation = { ...op, values: 'today', journal };
  const moves = recordedMoves(op.app);
  const names = moves.map(({ instance }) => instance);
  function* steps() {
    secretsStarting(own, names);
    const targets = moves.map((move) => goalOf(own, move));
    const title = () => `roll back ${names.join(', ')} to ${op.app.deploying?.version}`;
    yield* activation(own, targets, { isPartial: true, title });
  }
  const failed = await runSteps(own, steps());
  if (!failed) return undefined;
  markFailed(own, failed.error);
  return own.journal;
}
