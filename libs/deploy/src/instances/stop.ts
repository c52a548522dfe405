/** Stopping what runs of an app that is removed, or of an instance that is. */

import { changeApp } from '@runner/common/apps/change';
import type { AppState, Deployed } from '@runner/common/apps/state';
import { newDeployId } from '@runner/common/audit/events';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { redactorOf } from '../git/open-source.ts';
import type { Job } from '../record/job.ts';
import { openDeployLog } from '../run/log.ts';
import { asStepFailure } from '../run/step.ts';
import { switchOff } from './current-link.ts';
import { stopUnlessReplaced } from './go-back.ts';
import { type AppParts, partsOfApp, partsOfRelease } from './target.ts';

/** Stops each instance by its own `.deploy.yml`. Returns what could not be stopped, a sentence each. */
export async function stopInstances(io: Io, paths: Paths, app: AppState): Promise<string[]> {
  const redact = await redactorOf({ io, paths }, app.app);
  const log = openDeployLog(paths, app.app, newDeployId(io.random), redact, () => {});
  const parts = partsOfApp({ io, paths, app, log, redact });
  const left: string[] = [];
  for (const [name, { current }] of Object.entries(app.instances)) {
    const why = current && (await stopOne(parts, name, current));
    if (why) left.push(why);
  }
  log.close();
  return left;
}

/** Stops one instance by the `.deploy.yml` of the version that it has. Returns why it could not. */
async function stopOne(
  parts: AppParts,
  name: string,
  current: Deployed,
): Promise<string | undefined> {
  const running = partsOfRelease(parts, name, current);
  if (!running) return `${name} was not stopped: its .deploy.yml cannot be read any more`;
  try {
    await stopUnlessReplaced(running, undefined);
    return undefined;
  } catch (error) {
    return `${name} could not be stopped: ${asStepFailure(error, 'start').message}`;
  }
}

/** Instances that `.deploy.yml` no longer names are stopped and forgotten, and that is said. */
export async function stopRemoved(job: Job, file: DeployFile): Promise<void> {
  const { io, paths, app, reporter } = job;
  const names = new Set(file.instances.map(({ name }) => name));
  const gone = Object.entries(app.instances).filter(([name]) => !names.has(name));
  if (gone.length === 0) return;
  const parts = partsOfApp(job);
  for (const [name, { current }] of gone) {
    const why = current && (await stopOne(parts, name, current));
    if (why) reporter.note(why);
    switchOff(paths.app(app.app), name);
    reporter.note(`the instance ${name} is no longer in .deploy.yml: it was stopped`);
  }
  changeApp(paths, io, 'deploy', app.app, (now) => ({
    ...now,
    instances: Object.fromEntries(
      Object.entries(now.instances).filter(([name]) => names.has(name)),
    ),
  }));
}
