/**
 * What a deploy or a rollback left that was killed: told, cleaned up, and what it had touched is
 * brought back to what the state says.
 */
import { join } from 'node:path';
import { changeApp } from '@runner/common/apps/change';
import type { AppState, Deployed, LastFailure } from '@runner/common/apps/state';
import { type DeployEvent, kindOf, type LogRecord, textOf } from '@runner/common/audit/events';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { namesIn } from '@runner/common/files/read';
import { activeRelease } from '../instances/current-link.ts';
import { fileOfRelease } from '../instances/target.ts';
import { notedWays, rolledBackEvent, rolledBackState } from '../record/after-rollback.ts';
import { succeededState } from '../record/after-success.ts';
import { withAftermath } from '../record/broken-instances.ts';
import { countFailure, lastFailure } from '../record/failures.ts';
import { recordAnyway } from '../record/job.ts';
import { removeTree } from '../release/folder.ts';
import { CHANNEL, startNotifier } from '../report/notifier.ts';
import { sweep } from '../run/child.ts';
import { openDeployLog } from '../run/log.ts';
import { bringBack } from './bring-back.ts';
import { missingEvents } from './events.ts';
import { type Dead, headlineOf, isEarly, type Recovery } from './interrupted.ts';

/**
 * Called under the app's lock: whoever is named in `deploying` is dead. If the event of its success
 * is in the log, the state follows it; else its DeployFailure is recorded, unless it is there, its
 * unfinished release removed, and what it had touched brought back. Returns the app as it is now.
 */
export async function recover(recovery: Recovery, app: AppState): Promise<AppState> {
  const { io, paths, reporter, redact } = recovery;
  const dead = app.deploying;
  if (!dead) return app;
  sweep(`RUNNER_DEPLOY_ID=${dead.deploy_id}`);
  const { releases } = paths.app(app.app);
  for (const name of namesIn(releases).filter((each) => each.startsWith('.tmp-'))) {
    removeTree(join(releases, name));
  }
  const records = eventsOfDeploy(paths, dead.deploy_id);
  const has = (kind: string) => records.find((record) => kindOf(record) === kind);
  const success = has(dead.rollback ? 'RollbackSuccess' : 'DeploySuccess');
  if (success && !dead.rollback) return finishDeploy(recovery, app, dead, success);
  if (success) return finishRollback(recovery, app, dead, records);
  // Killed before its start was recorded, so nothing had been done.
  if (!dead.rollback && records.length === 0 && isEarly(dead)) return cleared(recovery, app);
  const log = openDeployLog(paths, app.app, dead.deploy_id, redact, () => {});
  log.line(headlineOf(dead));
  const what = dead.rollback ? 'rollback' : 'deploy';
  reporter.note(`${what} ${dead.deploy_id} was interrupted during ${dead.stage}: cleaning up`);
  const returned = await bringBack(recovery, app, dead, log);
  log.close();
  const notifier = startNotifier(io, paths.root, channelsOf(recovery, app, dead));
  for (const { event, isNew } of missingEvents(recovery, app, dead, records, returned)) {
    if (isNew) recordAnyway(recovery, event);
    notifier.tell(event);
  }
  const recovered = changeApp(paths, io, 'deploy', app.app, (now) => ({
    ...now,
    instances: withAftermath(now.instances, returned.aftermath, io.now()),
    // A kill is nobody's commit; what the commit had done before it counts.
    failures:
      dead.failed?.blame === 'commit' && !dead.rollback
        ? countFailure(now, dead.commit, dead.failed.stage, io.now())
        : now.failures,
    last_failure: {
      ...(lastFailureOf(dead, records) ??
        lastFailure(
          { ...dead, deployId: dead.deploy_id },
          dead.failed?.stage ?? dead.stage,
          headlineOf(dead),
          io.now(),
        )),
      ...(dead.rollback && { rollback: true }),
    },
    deploying: null,
  }));
  for (const line of await notifier.finish()) reporter.note(line);
  return recovered;
}

/** When the failure was recorded before the kill, it is that. */
function lastFailureOf(dead: Dead, records: readonly LogRecord[]): LastFailure | undefined {
  const record = records.find((each) => kindOf(each) === 'DeployFailure');
  if (!record) return undefined;
  const told = { ...dead, deployId: dead.deploy_id };
  const at = new Date(textOf(record, 'timestamp'));
  return lastFailure(told, textOf(record, 'stage'), textOf(record, 'error'), at);
}

function cleared({ io, paths }: Recovery, app: AppState): AppState {
  return changeApp(paths, io, 'deploy', app.app, (now) => ({ ...now, deploying: null }));
}

/** What it had chosen; else what the active release says, else every channel. */
function channelsOf(
  { paths }: Recovery,
  app: AppState,
  { notify }: Dead,
): NotifyChoice | undefined {
  if (notify !== undefined && Object.hasOwn(CHANNEL, notify)) return notify as NotifyChoice;
  const active = Object.values(app.instances).find(({ current }) => current)?.current;
  return active ? fileOfRelease(paths, app.app, active)?.notify : undefined;
}

/** Killed between the event of its success and the state: the state follows the event. */
async function finishDeploy(
  recovery: Recovery,
  app: AppState,
  dead: Dead,
  event: LogRecord,
): Promise<AppState> {
  const { io, paths, reporter } = recovery;
  const names = String(event.instance ?? dead.instance).split(',');
  const release = activeRelease(paths.app(app.app), names[0] as string);
  if (release === undefined) return cleared(recovery, app);
  // Nobody was told: that comes after the state.
  const notifier = startNotifier(io, paths.root, channelsOf(recovery, app, dead));
  notifier.tell(event as DeployEvent);
  const { version, commit, deploy_id, passed_over } = dead;
  const deployed: Deployed = {
    version,
    commit,
    release,
    deployed_at: String(event.timestamp),
    deploy_id,
  };
  const keep = fileOfRelease(paths, app.app, deployed)?.keep ?? 5;
  const now = changeApp(paths, io, 'deploy', app.app, (state) =>
    succeededState(state, names, deployed, keep, passed_over),
  );
  for (const line of await notifier.finish()) reporter.note(line);
  return now;
}

/** Every instance had arrived when the first of the events was written. */
async function finishRollback(
  recovery: Recovery,
  app: AppState,
  dead: Dead,
  records: readonly LogRecord[],
): Promise<AppState> {
  const { io, paths, reporter } = recovery;
  const ways = notedWays(app, dead.rollback ?? {});
  const notifier = startNotifier(io, paths.root, channelsOf(recovery, app, dead));
  for (const way of ways) {
    const written = records.find((record) => record.instance === way.name);
    const event = rolledBackEvent({ io, app, deployId: dead.deploy_id }, way);
    if (!written) recordAnyway(recovery, event);
    notifier.tell(written ? { ...event, timestamp: String(written.timestamp) } : event);
  }
  const now = changeApp(paths, io, 'rollback', app.app, (state) =>
    rolledBackState(state, ways, io.now()),
  );
  for (const line of await notifier.finish()) reporter.note(line);
  return now;
}
