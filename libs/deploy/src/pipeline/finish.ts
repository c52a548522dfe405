/** The end of a deploy, either way: records, hooks, old releases, old logs. */
import { isStopped } from '@runner/common/apps/operator';
import { migrationWords } from '@runner/common/apps/schema-way';
import { asleepSince } from '@runner/common/apps/slots';
import { requireApp } from '@runner/common/apps/store';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { isThere, removeIfThere } from '@runner/common/files/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { contractIfDue } from '../database/contract.ts';
import { unneededBackups } from '../database/kept.ts';
import { unfitWords } from '../database/way-back.ts';
import type { Contents } from '../git/contents.ts';
import { tidyMirror } from '../git/mirror-upkeep.ts';
import { addressesOf } from '../instances/address.ts';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { hookSteps, runHookAnyway } from '../instances/hooks.ts';
import type { Seen } from '../instances/probe.ts';
import { stopRemoved } from '../instances/stop.ts';
import { keptTarget, targetOf } from '../instances/target.ts';
import { leaving } from '../journal/after-success.ts';
import { causeOf, keepBaseline } from '../journal/cause.ts';
import { type Deploy, problemsOf, say, uninterrupted } from '../journal/operation.ts';
import { conclude } from '../operation/conclude.ts';
import { migrationBy } from '../operation/ending-fields.ts';
import {
  type ActiveRelease,
  deployFailed,
  deploySucceeded,
  errorText,
} from '../operation/endings.ts';
import type { Failed } from '../operation/execute.ts';
import { markProxy } from '../proxy/mark.ts';
import { pruneReleases, slotReleases } from '../release/folder.ts';
import { metByRollback, undoWords } from '../rollback/met.ts';
import { oldLogs } from '../run/log.ts';
import { releasesInUse } from '../run/processes.ts';
import { StepFailure, withEnding } from '../run/step.ts';
import { aboutDeploy, type DeployOutcome } from './outcome.ts';

/** What a failed deploy had come to. */
interface Attempted {
  readonly contents: Contents | StepFailure;
  readonly release: string;
  readonly seen: Seen | undefined;
}

/** Records the failure, then runs its hook: a slow hook cannot delay the record. */
export async function finishFailure(
  op: Deploy,
  failed: Failed,
  { contents, release, seen }: Attempted,
): Promise<DeployOutcome> {
  const file = contents instanceof StepFailure ? undefined : contents.file;
  const { moves, step } = failed;
  // In a slot, before any request moved.
  const isBefore = step?.slot !== undefined && moves.length === 0;
  const unswitched = isBefore ? 'nothing was switched' : undefined;
  const error = withSchema(
    op,
    unswitched === undefined ? failed.error : servingOn(op, failed, unswitched),
  );
  const cause = causeOf(op, error);
  // An operator can also be to blame for a command that cannot succeed.
  const isInterrupted = error.blame === 'operator' && op.signal.aborted;
  const at = step?.instance;
  const facts = { error, moves, at, file, cause, seen, isInterrupted, unswitched };
  conclude(op, deployFailed(op, facts));
  const text = errorText(op, facts);
  const isMade = isThere(op.paths.app(op.app.app).release(release));
  if (file) await runFailureHook(op, file, isMade ? release : undefined, text);
  prune(op, { failed: isMade ? release : undefined });
  await tidy(op);
  const problems = problemsOf(moves, 'rollback');
  const unfit = unfitNow(op);
  const instances = at === undefined ? op.instances : [at];
  const about = aboutDeploy(op, instances);
  const active = problems.length > 0 ? null : about.previous_version;
  const stopped = active !== null && instances.every((name) => isStopped(op.app, name));
  const isBack = moves.some(({ to }) => to) && problems.length === 0;
  return {
    ...about,
    result: isBack ? 'rolled_back' : 'failed',
    active_version: active,
    ...(stopped && { stopped }),
    stage: error.stage,
    error: text,
    ...(cause !== '' && { cause }),
    ...(problems.length > 0 && { rollback_error: problems.join('; ') }),
    ...(isInterrupted && { interrupted: true }),
    ...(unfit !== undefined && { unfit }),
    ...seen,
  };
}

/** What keeps running may not work with the database as the migration has left it. */
function withSchema(op: Deploy, error: StepFailure): StepFailure {
  const own = migrationBy(op);
  if (!own || own.verdict === 'additive' || own.verdict === 'proven') return error;
  const unfit = unfitNow(op);
  if (unfit !== undefined) return withEnding(error, `; ${unfit}`);
  const restore = own.restore === undefined ? '' : `; to restore what was before: ${own.restore}`;
  return withEnding(error, `; ${migrationWords(own)}${restore}`);
}

const unfitNow = ({ paths, app }: Deploy) => unfitWords({ paths, app: requireApp(paths, app.app) });

function servingOn(op: Deploy, { error, step }: Failed, unswitched: string): StepFailure {
  const name = step?.instance ?? '';
  const previous = op.app.instances[name]?.current;
  const target = previous && unlessFailure(() => keptTarget(op, name, previous), undefined);
  const hasEnded = target && askNow(driverFor(target.start).status(target)) === 'stopped';
  const goesOn = isStopped(op.app, name)
    ? 'stays stopped'
    : asleepSince(op.paths.app(op.app.app).instance(name))
      ? 'sleeps until the next request'
      : hasEnded
        ? `is not running (runner start ${op.app.app} starts it)`
        : 'keeps serving';
  const serving = previous ? `${previous.version} ${goesOn}, ` : '';
  return withEnding(error, `; ${serving}${unswitched}`);
}

/** Only the next signal ends it: one may be why the deploy failed. Without a release it runs in the folder of the app. */
async function runFailureHook(
  op: Deploy,
  file: DeployFile,
  release: string | undefined,
  error: string,
): Promise<void> {
  const { version, commit } = op;
  const [first] = file.instances as [Instance];
  const calm = { ...uninterrupted(op), values: 'today' as const, signal: op.next() };
  const what = { file, instance: first, release: release ?? 'none', version, commit };
  const target = targetOf(calm, what);
  const folder = release === undefined ? op.paths.app(op.app.app).dir : target.release;
  await runHookAnyway(op, hookSteps(op, target, 'on_failure', { folder, error }), '');
}

/** Records the success, then does what comes after it and cannot undo it. */
export async function finishSuccess(op: Deploy, made: ActiveRelease): Promise<DeployOutcome> {
  const { version, commit } = op;
  const { release, seen } = made;
  // Without slots the requests of the gap are no one's.
  const mark = made.mark ?? (await markProxy(made.file));
  conclude(op, deploySucceeded(op, { ...made, mark }));
  const urls = addressesOf(made.file, op.instances);
  const [url] = Object.values(urls);
  const found = url === undefined ? {} : { url, urls };
  const outcome = { ...aboutDeploy(op), active_version: version, ...found, ...seen };
  // A `cancel` that came too late ends nothing.
  const calm = { ...op, signal: op.next() };
  for (const name of op.instances) {
    const target = keptTarget(calm, name, { release, version, commit }) as Target;
    const hooks = hookSteps(op, target, 'post_deploy');
    await runHookAnyway(op, hooks, 'the deploy succeeded, but ');
  }
  await tidyAfter(op, calm);
  return { ...outcome, result: 'deployed' };
}

/** That a rollback would not simply go back, which the line of the migration alone has not said. */
function sayWayBack(op: Deploy): void {
  const own = { paths: op.paths, app: requireApp(op.paths, op.app.app) };
  const met = metByRollback(own);
  if (met && !met.open && met.verdict !== migrationBy(op)?.verdict) say(op, undoWords(own));
}

/** The deploy has ended: trouble with what comes after it is only noted. */
async function tidyAfter(op: Deploy, calm: Deploy): Promise<void> {
  const { app, reporter } = op;
  try {
    await stopRemoved(uninterrupted(op), leaving(app, op.instances, op));
    keepBaseline(op);
    prune(op);
    sayWayBack(op);
    await contractIfDue(calm);
    await tidy(op);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    reporter.note(`the deploy succeeded, but ${error.message} (${error.code})`);
  }
}

async function tidy({ io, paths, app, reporter }: Deploy): Promise<void> {
  const why = await tidyMirror(io, paths.app(app.app).repo);
  if (why) reporter.note(`the mirror could not be tidied: ${why}`);
}

/**
 * Removes old releases and logs; if that fails, it is only noted. The newest failed release stays,
 * until a deploy succeeds or makes another one.
 */
function prune(op: Deploy, failure?: { readonly failed: string | undefined }): void {
  const { paths, log, reporter } = op;
  const { app, instances } = op.app;
  try {
    if (!failure || failure.failed !== undefined) {
      const appPaths = paths.app(app);
      // What ran until now may still answer its last requests, as another user too.
      const replaced = Object.values(instances).flatMap(({ current }) => current?.release ?? []);
      const now = requireApp(paths, app);
      const inUse = [...slotReleases(now), ...releasesInUse(appPaths.dir)];
      const stay = new Set([...replaced, ...inUse, failure?.failed ?? '']);
      const problems = pruneReleases(appPaths, now, stay);
      for (const problem of problems) reporter.note(problem);
    }
    const unneeded = unneededBackups(paths.app(app), requireApp(paths, app));
    for (const path of [...oldLogs(paths, app, log.path), ...unneeded]) removeIfThere(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    reporter.note(`old releases or logs could not be removed: ${why}`);
  }
}
