/** Recovery from a deploy or rollback that was killed: what it had touched is restored. */
import { changeApp } from '@runner/common/apps/change';
import { liveSlot } from '@runner/common/apps/slots';
import type { AppState, Deployed, Deploying } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import { instancesOf, kindOf, type LogRecord, textOf } from '@runner/common/audit/record';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import { isChannelList } from '@runner/common/config/channels';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { removeTree } from '@runner/common/files/tree-change';
import type { Paths } from '@runner/common/foundation/paths';
import { activeRelease } from '../instances/current-link.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { stopRemoved } from '../instances/stop.ts';
import { activeFile, type TargetBase, uninterrupted } from '../instances/target.ts';
import { failedState } from '../journal/after-failure.ts';
import { reasonOf, recordedMoves, rolledBackState } from '../journal/after-rollback.ts';
import { leaving, succeededState } from '../journal/after-success.ts';
import { announce, eventsOf, recordAnyway, rolledBackEvents } from '../journal/events.ts';
import { clearMark, secretsStarted } from '../journal/mark.ts';
import type { Operation } from '../journal/operation.ts';
import { unfinishedReleases } from '../release/folder.ts';
import { type Notifier, startNotifier } from '../report/notifier.ts';
import { openDeployLog } from '../run/log.ts';
import { endDeploy } from '../run/processes.ts';
import { openSandboxAnyway } from '../sandbox/sandbox.ts';
import { eventsLike, missingEvents, startOf, unsentEvents } from './events.ts';
import { hasArrived } from './forward.ts';
import { headlineOf, isEarly } from './interrupted.ts';
import { restoreAfterKill } from './restore.ts';

/**
 * Called under the app's lock: the process named in `deploying` is dead. If its success is in the
 * log, the state follows the log; otherwise its failure is recorded and what it had touched is
 * restored. Returns the app as it is now.
 */
export async function recover(operation: Operation): Promise<AppState> {
  const { app, paths } = operation;
  const dead = app.deploying;
  if (!dead) return app;
  const own = paths.app(app.app);
  for (const folder of unfinishedReleases(own)) {
    const problem = removeTree(folder);
    if (problem) operation.reporter.note(problem);
  }
  const records = eventsOfDeploy(paths, dead.deploy_id);
  const kind = dead.rollback ? 'RollbackSuccess' : 'DeploySuccess';
  const success = records.find((record) => kindOf(record) === kind);
  if (success && !dead.rollback) return finishDeploy(operation, dead, success, records);
  if (success) return finishRollback(operation, dead, records);
  const live = liveReleases(paths, app);
  const hasMoved = (base: TargetBase) => hasArrived(base, app, dead);
  if (live.size > 0 && (await atWork(operation, dead, hasMoved)))
    return goForward(operation, dead, records);
  // What gets requests ends once its instance has rolled back.
  endDeploy(own.dir, dead.deploy_id, (release) => !live.has(release));
  // Killed before its start was recorded: nothing had been done.
  if (!dead.rollback && records.length === 0 && isEarly(dead)) return clearMark(operation);
  return cleanUp(operation, dead, records);
}

/** Goes on with what the dead deploy had begun. */
async function atWork<T>(
  operation: Operation,
  { deploy_id: deployId }: Deploying,
  body: (base: TargetBase) => Promise<T>,
): Promise<T> {
  const { io, paths, app, redact } = operation;
  const log = openDeployLog(paths, app.app, deployId, redact, () => {});
  try {
    const sandbox = openSandboxAnyway({ paths, env: io.env, app: app.app });
    return await body(uninterrupted({ ...operation, deployId, log, sandbox }));
  } finally {
    log.close();
  }
}

/** The releases that get requests through a slot. */
function liveReleases(paths: Paths, { app, instances }: AppState): ReadonlySet<string> {
  const found = Object.entries(instances).map(([name, { slots }]) => {
    const live = liveSlot(paths.app(app).instance(name));
    return live && slots?.[live]?.release;
  });
  return new Set(found.filter((release) => release !== undefined));
}

/** Killed when all requests had moved to its version, which is healthy: it has succeeded. */
async function goForward(
  operation: Operation,
  dead: Deploying,
  records: readonly LogRecord[],
): Promise<AppState> {
  const { io, app, redact, reporter } = operation;
  const { deploy_id: deployId, commit, version } = dead;
  const what = dead.rollback ? 'rollback' : 'deploy';
  const after = `was interrupted during ${dead.stage}, after the switch`;
  reporter.note(`${what} ${deployId} ${after}: ${version} is healthy and stays`);
  if (dead.rollback) return finishRollback(operation, dead, records);
  const origin = { io, app, redact, deployId, commit, version, trigger: 'recovery' };
  const duration_ms = Math.max(0, io.now().getTime() - Date.parse(dead.started));
  const events = eventsOf(
    origin,
    'DeploySuccess',
    dead.instance.split(','),
    undefined,
    (instance) => ({
      duration_ms,
      ...(dead.user !== undefined && { user: dead.user }),
      ...startOf(records, instance),
    }),
  );
  const recorded = recordAnyway(operation, events);
  return finishDeploy(operation, dead, recorded[0] as LogRecord, [...recorded].reverse());
}

async function cleanUp(
  operation: Operation,
  dead: Deploying,
  records: readonly LogRecord[],
): Promise<AppState> {
  const { io, paths, reporter, redact, app } = operation;
  const log = openDeployLog(paths, app.app, dead.deploy_id, redact, () => {});
  log.line(headlineOf(dead));
  const what = dead.rollback ? 'rollback' : 'deploy';
  reporter.note(`${what} ${dead.deploy_id} was interrupted during ${dead.stage}: cleaning up`);
  const moves = await restoreAfterKill(operation, dead, log);
  log.close();
  return notifying(operation, dead, (notifier) => {
    for (const event of unsentEvents(dead, records)) notifier.send(event);
    for (const event of missingEvents(operation, dead, records, moves)) {
      announce({ ...operation, notifier }, [event]);
    }
    return changeApp(paths, io, 'deploy', app.app, (now) =>
      failedState(now, failureOf(dead, records, io.now()), moves),
    );
  });
}

/** The failure as it was recorded before the kill, or the kill itself. */
function failureOf(dead: Deploying, records: readonly LogRecord[], now: Date) {
  const { commit, version, deploy_id: deployId, failed, rollback } = dead;
  const record = records.find((each) => kindOf(each) === 'DeployFailure');
  const what = record
    ? {
        stage: textOf(record, 'stage'),
        error: textOf(record, 'error'),
        at: new Date(textOf(record, 'timestamp')),
        interrupted: record.interrupted === true,
      }
    : {
        stage: failed?.stage ?? dead.stage,
        error: headlineOf(dead),
        at: now,
        interrupted: !failed,
      };
  // A kill is not the commit's fault; what failed before it may be.
  const blame = failed?.blame === 'commit' ? ('commit' as const) : undefined;
  return { commit, version, deployId, ...what, blame, byHand: rollback !== undefined };
}

/** Killed between the event of its success and the state: the state follows the event. */
async function finishDeploy(
  operation: Operation,
  dead: Deploying,
  event: LogRecord,
  records: readonly LogRecord[],
): Promise<AppState> {
  const { io, paths, app } = operation;
  const names = instancesOf(event);
  const release = activeRelease(paths, app.app, names[0] as string);
  if (release === undefined) return clearMark(operation);
  const { version, commit, deploy_id } = dead;
  const deployed_at = String(event.timestamp);
  const deployed: Deployed = { version, commit, release, deployed_at, deploy_id };
  const keep = fileOfRelease(paths, app.app, deployed)?.keep ?? 5;
  const choice = choiceOf(dead);
  const gone = leaving(app, names, choice);
  const isKnown = names.every((name) => app.instances[name]?.current?.deploy_id === deploy_id);
  const known = isKnown
    ? app
    : await notifying(operation, dead, (notifier) => {
        secretsStarted(operation);
        // The kill may have come before it was sent.
        for (const sent of eventsLike(event, records)) notifier.send(sent);
        return changeApp(paths, io, 'deploy', app.app, (state) =>
          succeededState(state, names, deployed, keep, choice),
        );
      });
  return atWork(operation, dead, (base) => stopRemoved(base, known, gone));
}

/** Every instance runs its version when the first of the events is written. */
async function finishRollback(
  operation: Operation,
  dead: Deploying,
  records: readonly LogRecord[],
): Promise<AppState> {
  const { io, paths, redact, app } = operation;
  const moves = recordedMoves(app);
  const origin = { io, app, redact, deployId: dead.deploy_id, trigger: 'manual' };
  secretsStarted(operation);
  return notifying(operation, dead, (notifier) => {
    const events = rolledBackEvents(origin, moves, (move) => ({
      file: fileOfRelease(paths, app.app, move.to),
      reason: reasonOf(move),
      more: {
        from_commit: move.from.commit,
        ...(dead.user !== undefined && { user: dead.user }),
      },
    }));
    for (const event of events) {
      const written = records.find((record) => record.instance === event.instance);
      const [sent] = written ? [written as DeployEvent] : recordAnyway(operation, [event]);
      if (sent) notifier.send(sent);
    }
    return changeApp(paths, io, 'rollback', app.app, (state) =>
      rolledBackState(state, moves, io.now(), dead.user),
    );
  });
}

/** What was chosen to be deployed. A mark of an older version lacks `partial`. */
function choiceOf({
  passed_over: skippedHead,
  partial = skippedHead !== undefined,
  returns = false,
  user,
}: Deploying) {
  return { skippedHead, partial, returns, by: user ?? 'unknown' };
}

async function notifying(
  operation: Operation,
  dead: Deploying,
  body: (notifier: Notifier) => AppState,
): Promise<AppState> {
  const { io, paths, reporter } = operation;
  const notifier = startNotifier(io, paths.root, channelsOf(operation, dead));
  const app = body(notifier);
  for (const line of await notifier.finish()) reporter.note(line);
  return app;
}

/** The channels it had chosen, else those of the active release, else all. */
function channelsOf({ paths, app }: Operation, { notify }: Deploying): NotifyChoice | undefined {
  if (notify !== undefined && isChannelList(notify)) return notify;
  return activeFile(paths, app)?.notify;
}
