/** What a deploy left that was killed: told, cleaned up, and what it had switched is switched back. */
import { join } from 'node:path';
import type { AppState, Deployed } from '@runner/common/apps';
import { eventOfDeploy } from '@runner/common/audit-scan';
import { type DeployEvent, kindOf, type LogRecord } from '@runner/common/events';
import { namesIn } from '@runner/common/files';
import { changeApp } from '@runner/common/registry';
import { activeRelease } from './activate.ts';
import { sweep } from './child.ts';
import { type DeployLog, openDeployLog } from './deploy-log.ts';
import { processDriver } from './drivers/process.ts';
import { fileOfRelease } from './instance-target.ts';
import { eventOf, type Job, recordAnyway } from './job.ts';
import { previousOfAll } from './job-target.ts';
import { startNotifier } from './notifier.ts';
import { succeededState } from './outcome.ts';
import { removeTree } from './release.ts';
import { goBack } from './rollback.ts';
import { asStepFailure } from './step.ts';

type Recovery = Pick<Job, 'io' | 'paths' | 'reporter' | 'redact'>;
type Dead = NonNullable<AppState['deploying']>;

/**
 * Called under the app's lock: whoever is named in `deploying` is dead. If its last event is in the
 * log, only the state is put right; else its DeployFailure is recorded. Its unfinished release is
 * removed, and what it had switched is brought back. Returns the app as it is now.
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
  const last = eventOfDeploy(paths, dead.deploy_id, ['DeploySuccess', 'DeployFailure']);
  if (last && kindOf(last) === 'DeploySuccess') return finish(recovery, app, dead, last);
  const log = openDeployLog(paths, app.app, dead.deploy_id, redact, () => {});
  log.line(`deploy interrupted during ${dead.stage}`);
  reporter.note(`deploy ${dead.deploy_id} was interrupted during ${dead.stage}: cleaning up`);
  const { back, problems } = await bringBack(recovery, app, log);
  log.close();
  const notifier = startNotifier(io, paths.root, undefined);
  for (const event of eventsOf(recovery, app, dead, last, back, problems)) {
    if (event !== last) recordAnyway(recovery, event);
    notifier.tell(event);
  }
  // A kill is nobody's commit: it does not count towards blocking.
  const recovered = changeApp(paths, io, 'deploy', app.app, (now) => ({ ...now, deploying: null }));
  for (const line of await notifier.finish()) reporter.note(line);
  return recovered;
}

/** Killed between the event of its success and the state: the state follows the event. */
function finish({ io, paths }: Recovery, app: AppState, dead: Dead, event: LogRecord): AppState {
  const names = String(event.instance ?? dead.instance).split(',');
  const release = activeRelease(paths.app(app.app), names[0] as string);
  if (release === undefined)
    return changeApp(paths, io, 'deploy', app.app, (now) => ({ ...now, deploying: null }));
  const { version, commit, deploy_id } = dead;
  const deployed: Deployed = {
    version,
    commit,
    release,
    deployed_at: String(event.timestamp),
    deploy_id,
  };
  const keep = fileOfRelease(paths, app.app, deployed)?.keep ?? 5;
  return changeApp(paths, io, 'deploy', app.app, (now) =>
    succeededState(now, names, deployed, keep),
  );
}

interface Back {
  readonly instance: string;
  readonly to: Deployed | null;
}

/** Brings back every instance whose `current` is not what the state says. */
async function bringBack(
  { io, paths, redact }: Recovery,
  app: AppState,
  log: DeployLog,
): Promise<{ back: Back[]; problems: string[] }> {
  const appPaths = paths.app(app.app);
  const back: Back[] = [];
  const problems: string[] = [];
  const signal = new AbortController().signal;
  // A first deploy may have made an instance that the state does not know yet.
  for (const instance of new Set([...Object.keys(app.instances), ...namesIn(appPaths.instances)])) {
    const current = app.instances[instance]?.current ?? null;
    if (activeRelease(appPaths, instance) === current?.release) continue;
    try {
      if (!current) await processDriver.stop({ paths: appPaths.instance(instance) });
      const parts = { paths, env: io.env, app: app.app, log, redact, signal };
      await goBack(parts, { name: instance, domain: undefined, env: {} }, undefined, current);
      back.push({ instance, to: current });
    } catch (error) {
      const { message } = asStepFailure(error, 'start');
      problems.push(`rollback to ${current?.version ?? 'nothing'} failed: ${message}`);
    }
  }
  return { back, problems };
}

/** The failure (the one that is in the log already, if there is one), then what went back. */
function eventsOf(
  { io }: Recovery,
  app: AppState,
  dead: Dead,
  last: LogRecord | undefined,
  back: readonly Back[],
  problems: readonly string[],
): DeployEvent[] {
  const { deploy_id: deployId, commit, version, stage } = dead;
  const told = { io, app, deployId, commit, version, trigger: 'recovery' };
  const headline = `deploy interrupted during ${stage}`;
  const previous = previousOfAll(app, dead.instance.split(','))?.version;
  const failure = eventOf(told, 'DeployFailure', {
    instance: dead.instance,
    stage,
    error: [headline, ...problems].join('\n'),
    ...(problems.length > 0 && { rolled_back: false, reason: problems.join('; ') }),
    ...(previous !== undefined && { previous_version: previous }),
  });
  const returned = back.flatMap(({ instance, to }) => {
    const fields = {
      instance,
      version: to?.version ?? '',
      from_version: version,
      reason: headline,
    };
    return to ? [eventOf(told, 'RollbackSuccess', fields)] : [];
  });
  return [last ? (last as DeployEvent) : failure, ...returned];
}
