/** What a deploy left that was killed: told, cleaned up, and what it had switched is switched back. */
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps';
import { namesIn } from '@runner/common/files';
import { changeApp } from '@runner/common/registry';
import { activeRelease } from './activate.ts';
import { sweep } from './child.ts';
import { openDeployLog } from './deploy-log.ts';
import { processDriver } from './drivers/process.ts';
import { eventOf, type Job, recordAnyway } from './job.ts';
import { startNotifier } from './notifier.ts';
import { removeTree } from './release.ts';
import { goBack } from './rollback.ts';
import { StepFailure } from './step.ts';

/** Stages that are over before anything of the running version is touched. */
const COUNTED = new Set(['config', 'export', 'build', 'release', 'switch', 'start', 'health']);

/**
 * Called under the app's lock: whoever is named in `deploying` is dead. Records its DeployFailure,
 * removes its unfinished release and brings back what it had switched. Returns the app as it is now.
 */
export async function recover(
  job: Pick<Job, 'io' | 'paths' | 'reporter' | 'redact'>,
  app: AppState,
): Promise<AppState> {
  const { io, paths, reporter, redact } = job;
  const dead = app.deploying;
  if (!dead) return app;
  sweep(`RUNNER_DEPLOY_ID=${dead.deploy_id}`);
  const appPaths = paths.app(app.app);
  for (const name of namesIn(appPaths.releases).filter((each) => each.startsWith('.tmp-'))) {
    removeTree(join(appPaths.releases, name));
  }
  const log = openDeployLog(paths, app.app, dead.deploy_id, redact, () => {});
  const signal = new AbortController().signal;
  const told = {
    io,
    paths,
    app,
    reporter,
    deployId: dead.deploy_id,
    commit: dead.commit,
    version: dead.version,
    trigger: 'recovery',
  };
  const headline = `deploy interrupted during ${dead.stage}`;
  log.line(headline);
  reporter.note(`deploy ${dead.deploy_id} was ${headline.slice('deploy '.length)}: cleaning up`);
  const back: { instance: string; to: AppState['instances'][string]['current'] }[] = [];
  const problems: string[] = [];
  // A first deploy may have made an instance that the state does not know yet.
  for (const instance of new Set([...Object.keys(app.instances), ...namesIn(appPaths.instances)])) {
    const current = app.instances[instance]?.current ?? null;
    if (activeRelease(appPaths, instance) === current?.release) continue;
    if (!current) await processDriver.stop({ paths: appPaths.instance(instance) });
    try {
      const parts = { paths, env: io.env, app: app.app, log, redact, signal };
      await goBack(parts, { name: instance, domain: undefined, env: {} }, undefined, current);
      back.push({ instance, to: current });
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      problems.push(`rollback to ${current?.version ?? 'none'} failed: ${error.message}`);
    }
  }
  log.close();
  const instance = dead.instance;
  const previous = app.instances[instance]?.current?.version;
  const failure = eventOf(told, 'DeployFailure', {
    instance,
    stage: dead.stage,
    error: [headline, ...problems].join('\n'),
    ...(problems.length > 0 && { rolled_back: false, reason: problems.join('; ') }),
    ...(previous !== undefined && { previous_version: previous }),
  });
  recordAnyway(told, failure);
  const notifier = startNotifier(io, paths.root, undefined);
  notifier.tell(failure);
  for (const { instance: name, to } of back.filter((each) => each.to)) {
    const event = eventOf(told, 'RollbackSuccess', {
      instance: name,
      version: to?.version ?? '',
      from_version: dead.version,
      reason: headline,
    });
    recordAnyway(told, event);
    notifier.tell(event);
  }
  const recovered = changeApp(paths, io, 'deploy', app.app, (now) => ({
    ...now,
    deploying: null,
    failures: COUNTED.has(dead.stage)
      ? countFailure(now, dead.commit, dead.stage, io.now())
      : now.failures,
  }));
  for (const line of await notifier.finish()) reporter.note(line);
  return recovered;
}

/** One more failure of a commit; another commit begins at one. */
export function countFailure(
  app: AppState,
  commit: string,
  stage: string,
  now: Date,
): AppState['failures'] {
  const before = app.failures?.commit === commit ? app.failures.count : 0;
  return { commit, count: before + 1, last_at: now.toISOString(), stage };
}
