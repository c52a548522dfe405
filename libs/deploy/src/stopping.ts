/** Stopping what runs of an app that is removed, or of an instance that is. */
import type { AppState, Deployed } from '@runner/common/apps';
import type { DeployFile } from '@runner/common/deploy-file';
import { newDeployId } from '@runner/common/events';
import type { Io } from '@runner/common/io';
import type { Paths } from '@runner/common/paths';
import { changeApp } from '@runner/common/registry';
import { switchOff } from './activate.ts';
import { openDeployLog } from './deploy-log.ts';
import { driverFor } from './drivers/choose.ts';
import { fileOfRelease, targetOf } from './instance-target.ts';
import type { Job } from './job.ts';
import { redactorOf } from './origin.ts';
import type { BackParts } from './rollback.ts';
import { asStepFailure } from './step.ts';

/** Stops each instance by its own `.deploy.yml`; what cannot be stopped is noted. */
export async function stopInstances(
  io: Io,
  paths: Paths,
  app: AppState,
  note: (text: string) => void,
): Promise<void> {
  const redact = redactorOf({ io, paths }, app.app);
  const log = openDeployLog(paths, app.app, newDeployId(io.random), redact, () => {});
  const signal = new AbortController().signal;
  const parts = { paths, env: io.env, app: app.app, log, redact, signal };
  for (const [name, { current }] of Object.entries(app.instances)) {
    if (current) await stopOne(parts, name, current, note);
  }
  log.close();
}

/** Stops one instance by the `.deploy.yml` of the version that it has. */
async function stopOne(
  parts: BackParts,
  name: string,
  current: Deployed,
  note: (text: string) => void,
): Promise<void> {
  const file = fileOfRelease(parts.paths, parts.app, current);
  if (!file) return note(`${name} was not stopped: its .deploy.yml cannot be read any more`);
  const instance = file.instances.find((each) => each.name === name) ?? {
    name,
    domain: undefined,
    env: {},
  };
  const { release, version, commit } = current;
  const target = targetOf({ ...parts, file, instance, release, version, commit });
  try {
    await driverFor(target.start).stop(target);
  } catch (error) {
    note(`${name} could not be stopped: ${asStepFailure(error, 'start').message}`);
  }
}

/** Instances that `.deploy.yml` no longer names are stopped and forgotten, and that is said. */
export async function stopRemoved(job: Job, file: DeployFile): Promise<void> {
  const { io, paths, app, log, redact, reporter } = job;
  const names = new Set(file.instances.map(({ name }) => name));
  const gone = Object.entries(app.instances).filter(([name]) => !names.has(name));
  if (gone.length === 0) return;
  const parts = {
    paths,
    env: io.env,
    app: app.app,
    log,
    redact,
    signal: new AbortController().signal,
  };
  for (const [name, { current }] of gone) {
    if (current) await stopOne(parts, name, current, reporter.note);
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
