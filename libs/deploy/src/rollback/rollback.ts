/**
 * `runner rollback`: makes a kept release active again. It needs neither network nor token, and puts
 * the commit that it leaves on hold, so that `fetch --deploy` skips it.
 */
import { entriesAnyway } from '@runner/common/apps/job-book';
import { restoreLine } from '@runner/common/apps/schema-way';
import { versionLabel } from '@runner/common/apps/versions';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { usage } from '@runner/common/foundation/failure';
import { admit, begin, end, orGiveBack } from '../approval/admit.ts';
import { requireBackup, restoreSteps } from '../database/restore.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { activation, isRunning } from '../instances/steps.ts';
import { besideItself, keptTarget } from '../instances/target.ts';
import { endJobs, givingWay } from '../jobs/give-way.ts';
import { lookForAllJobs } from '../jobs/look.ts';
import { isRestart, type KeptMove, keeping } from '../journal/after-rollback.ts';
import { beginAnyway, type Intent, secretsStarting } from '../journal/journal.ts';
import { type Operation, problemsOf } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { conclude } from '../operation/conclude.ts';
import { errorText, rollbackFailed, rollbackSucceeded } from '../operation/endings.ts';
import { execute, type Failed } from '../operation/execute.ts';
import { goalOf } from '../operation/finish-way-back.ts';
import { type OperationRequest, operate } from '../operation/operate.ts';
import { noteUnusual } from '../proxy/mark.ts';
import { silent, startNotifier } from '../report/notifier.ts';
import { refuseBorder } from './border.ts';
import { type RollbackOutcome, rollbackInLog } from './outcome.ts';
import { goalsOf, nothingToDo, planRollback, type RollbackTarget } from './plan.ts';
import { refuseSchema, type SchemaChoice } from './schema.ts';
import { startedAgain } from './started-again.ts';

/** If the log knows its `deployId`, nothing is done: its end is waited for and returned. */
export interface RollbackRequest extends OperationRequest, RollbackChoice {}

export interface RollbackChoice extends RollbackTarget, SchemaChoice {
  /** Go back to a version without `traffic` too: the proxy has to be changed. */
  readonly force: boolean;
  readonly reason?: string;
  /** Called once nothing refuses it, before anything is changed. */
  ready?(): void;
}

/** Throws `app_not_found`, `locked`, `instance_not_found`, `version_not_found`. */
export async function rollBackByHand(request: RollbackRequest): Promise<RollbackOutcome> {
  const { paths, app: name, deployId } = request;
  const ended = rollbackInLog(paths, name, deployId);
  if (ended)
    request.reporter.note(`${deployId} has ended already: this is its result, nothing was done`);
  if (ended) return ended;
  const ways = { lost: lostAfterAll };
  const outcome = await operate<RollbackOutcome>(request, 'rollback', ways, async (op) => {
    const endedMeanwhile = rollbackInLog(paths, name, deployId);
    if (endedMeanwhile) return endedMeanwhile;
    // A plan says where to.
    const nothing = request.plan === undefined ? nothingToDo(paths, op.app, request) : undefined;
    if (nothing && request.database !== undefined)
      throw usage(
        `${nothing.version} is active, and ${nothing.failed_version} failed: with --database name the version to run with --to`,
      );
    if (nothing) {
      const done = { result: 'unchanged' as const, deploy_id: null, duration_ms: 0 };
      return { app: name, ...nothing, from_version: nothing.version, ...done };
    }
    const goals = request.plan === undefined ? {} : goalsOf(planRollback(paths, op.app, request));
    const plan = admit(op, op.app, { ...request, verb: 'rollback', goals });
    const ready = () => begin(op, plan, request);
    // Who approved it knew what the plan says of the database.
    const choice = { ...request, ready, ...(plan && { confirm: () => true }) };
    const done = await rollBack(op, choice, request.notify ? undefined : 'none');
    const isDone = done.result === 'rolled_back';
    end(op, isDone, isDone ? `${done.version} is active` : 'the rollback failed');
    return done;
  });
  await lookForAllJobs(request, [name]);
  return outcome;
}

/** What died while the version before drained: that one serves again. */
function lostAfterAll(outcome: RollbackOutcome, lost: Operation['lost']): RollbackOutcome {
  const { instances = [], from_version: version } = outcome;
  return {
    ...outcome,
    result: 'failed',
    version,
    instance: [...lost.keys()].join(','),
    instances: instances.map((each) =>
      lost.has(each.instance) ? { ...each, version: each.from_version } : each,
    ),
    error: [...lost.values()].map(({ message }) => message).join('; '),
  };
}

/** Rolls back in an operation. Throws `instance_not_found`, `version_not_found`. */
export async function rollBack(
  op: Operation,
  choice: RollbackChoice,
  notify?: NotifyChoice,
): Promise<RollbackOutcome> {
  if (choice.database !== undefined && choice.instance !== undefined)
    throw usage('the database is of all instances: leave out --instance');
  const { moves: planned, staying } = planRollback(op.paths, op.app, choice);
  const again = startedAgain(op, planned, choice.database);
  const moves: readonly [KeptMove, ...KeptMove[]] = [...planned, ...again];
  if (!choice.force) refuseBorder(op.paths, op.app.app, moves);
  refuseSchema(op, moves, choice);
  choice.ready?.();
  for (const line of staying) op.reporter.note(line);
  const [{ from, to }] = moves;
  const names = moves.map(({ instance }) => instance);
  const channels = notify ?? fileOfRelease(op.paths, op.app.app, to)?.notify;
  if (op.notifier === silent) op.notifier = startNotifier(op.io, op.paths.root, channels);
  const intent: Intent = {
    commit: to.commit,
    version: to.version,
    instance: names.join(','),
    ...(choice.database === undefined ? begunAt(op, moves) : RESTORING),
    rollback: Object.fromEntries(moves.map((move) => [move.instance, move.to.release])),
    ...(channels !== undefined && { notify: channels }),
  };
  orGiveBack(op, () => beginAnyway(op, intent, (app) => keeping(app, moves)));
  secretsStarting(op, names);
  const { database } = choice;
  function* steps() {
    const targets = targetsOf(op, moves);
    yield* givingWay(op);
    if (database !== undefined) {
      const [look, ...others] = restoreSteps(op, targets, database);
      yield* look ? [look] : [];
      yield* endingJobs(op);
      yield* others;
    }
    yield* activation(op, targets, wayOf(moves));
  }
  const failed = await execute(op, steps());
  if (!failed) {
    await noteUnusual(op, from.mark, fileOfRelease(op.paths, op.app.app, from));
    conclude(op, rollbackSucceeded(op, moves, choice));
  }
  return {
    app: op.app.app,
    from_version: from.version,
    instance: names.join(','),
    deploy_id: op.deployId,
    instances: moves.map(({ instance, ...move }) => ({
      instance,
      from_version: versionLabel(move.from, [move.to]),
      version: versionLabel(move.to, [move.from]),
    })),
    ...(isRestart(moves[0]) && { restarted: true as const }),
    ...(database !== undefined && !failed && { database: wayBack(op, from, database) }),
    ...(failed ? failure(op, moves, failed) : { result: 'rolled_back', version: to.version }),
    duration_ms: op.clock.total,
  };
}

const RESTORING = { stage: 'switch', rests_jobs: true } as const;

/** No job may write to the database that is replaced, also none that a deploy would leave alone. */
function endingJobs(op: Operation): Step[] {
  const { app } = op.app;
  const isGoing = Object.values(entriesAnyway(op.paths, app)).some(({ run }) => run);
  const run = () => endJobs(op, app);
  return isGoing ? [{ stage: 'switch', title: 'end jobs', isBrief: true, run }] : [];
}

/** The backup that was restored, and the line that undoes it. */
function wayBack({ paths, app, deployId }: Operation, { version }: KeptMove['from'], id: string) {
  const { at } = requireBackup(paths, app, id);
  return { restored: id, at, undo: restoreLine(app, version, deployId) };
}

/** A version that still runs beside gets the requests at once: the journal need not be written once more for it. */
function begunAt(
  op: Operation,
  moves: readonly KeptMove[],
): Pick<Intent, 'stage' | 'slot' | 'touched'> {
  const [move] = moves as [KeptMove];
  const isAlone = moves.length === 1 && !isRestart(move);
  // What is wrong with it is for the steps to say.
  const kept = () => keptTarget(op, move.instance, move.to);
  const target = isAlone ? unlessFailure(kept, undefined) : undefined;
  if (!target?.slot || !isRunning(op, target)) return { stage: 'switch' };
  return { stage: 'traffic', slot: target.slot, touched: [move.instance] };
}

/** What is started again while it may still serve is started beside itself. */
function targetsOf(op: Operation, moves: readonly KeptMove[]): Target[] {
  return moves.map((move) => {
    const target = goalOf(op, move);
    return isRestart(move) ? besideItself(op, target) : target;
  });
}

function wayOf(moves: readonly KeptMove[]) {
  const moveOf = (name: string) => moves.find(({ instance }) => instance === name) as KeptMove;
  return {
    isFresh: moves.some(isRestart),
    isPartial: true,
    title(_stage: string, { instance: { name } }: Target) {
      const move = moveOf(name);
      const { version } = move.to;
      return isRestart(move)
        ? `start ${version} of ${name} again`
        : `roll back ${name} to ${version}`;
    },
  };
}

/** Records a rollback that failed, of the instance at which it did. */
function failure(
  op: Operation,
  moves: readonly KeptMove[],
  failed: Failed,
): Pick<RollbackOutcome, 'result' | 'version' | 'error' | 'rollback_error'> {
  const { error, step } = failed;
  const [first] = moves as [KeptMove];
  const { instance, from, to } = moves.find((move) => move.instance === step?.instance) ?? first;
  const facts = {
    error,
    moves: failed.moves,
    file: fileOfRelease(op.paths, op.app.app, to),
    isInterrupted: false,
  };
  const of = { commit: to.commit, version: to.version, instances: [instance] };
  conclude(op, rollbackFailed({ ...op, ...of }, facts));
  const problem = problemsOf(failed.moves, 'return').join('; ');
  const text = errorText(op, facts);
  if (problem === '') return { result: 'failed', version: from.version, error: text };
  return { result: 'failed', version: null, error: text, rollback_error: problem };
}
