/** An operation on an app from its lock to its last message. */
import { removalOf, removalWords } from '@runner/common/apps/preview';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import { removeTree } from '@runner/common/files/tree-change';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { announceOver } from '../alerts/over.ts';
import type { ApprovalChoice } from '../approval/options.ts';
import { refuseWhileRestored, STARTING } from '../database/sharing.ts';
import { keepHoldAnyway } from '../hold/traffic.ts';
import { keepJobs } from '../jobs/book.ts';
import { StageClock } from '../journal/clock.ts';
import { ENDING, type LockRequest, lockApp } from '../journal/lock.ts';
import { type ContextRequest, contextOf, type Operation } from '../journal/operation.ts';
import { type OpenedSecrets, secretsOf } from '../journal/secrets.ts';
import type { Reporter } from '../report/reporter.ts';
import { endDrains } from './go-back.ts';
import { recover } from './recover.ts';

/** What the command line asks for. */
export interface OperationRequest
  extends ContextRequest,
    ApprovalChoice,
    Pick<LockRequest, 'app' | 'wait' | 'isMoot'> {
  readonly reporter: Reporter;
  readonly trigger: string;
  readonly notify: boolean;
}

interface OperationWays<T> {
  /** Opens the secrets of the app. Default: all, of today. */
  open?(app: AppState): OpenedSecrets | Promise<OpenedSecrets>;
  /** What a result becomes if what was made active died while the version before still drained. */
  lost?(result: T, lost: Operation['lost']): T;
}

/** What is removed stays so, whatever starts or replaces it. */
function refuseRemoved({ app, preview }: AppState): void {
  if (preview && removalOf({ preview }))
    throw new Failure('not_ready', `${app} ${removalWords(preview)}`);
}

/**
 * Does something with an app under its lock, once what a killed operation left is undone. Then it ends
 * what drains, and waits for the chats, both without the lock: a drain may be cut short by a rollback, a
 * slow chat delays no one. Throws `app_not_found`, `locked`, also while another app restores its database,
 * `not_ready` for a removed preview.
 */
export async function operate<T>(
  request: OperationRequest,
  verb: string,
  { open = (app) => secretsOf(request, app), lost }: OperationWays<T>,
  body: (op: Operation) => Promise<T>,
): Promise<T> {
  const { io, paths, trigger, reporter } = request;
  const deployId = request.deployId ?? newDeployId(io.random);
  const note = (text: string) => reporter.note(text);
  const lock = await lockApp({ ...request, note }, { command: verb, trigger, deployId });
  let op: Operation | undefined;
  let result: T;
  try {
    // Behind a holder that has died no probe of what is deployed would notice that requests fail.
    await keepHoldAnyway({ ...request, note });
    const known = requireApp(paths, request.app);
    if (verb !== 'stop') refuseRemoved(known);
    const context = contextOf({ ...request, deployId }, known, await open(known));
    const ending = () => lock.note(ENDING);
    op = { ...context, app: await recover(context), clock: new StageClock(io), ending };
    if (STARTING.has(verb)) refuseWhileRestored(request, op.app);
    result = await body(op);
  } finally {
    if (op) unlessFailure(() => keepJobs(request, request.app), undefined);
    lock.release();
    if (op) await endDrains(op);
    op?.sandbox.close(removeTree);
    op?.log.close();
    await announceOver(request, verb);
  }
  return lost && op.lost.size > 0 ? lost(result, op.lost) : result;
}
