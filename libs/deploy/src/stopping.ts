/** Stopping all that runs of an app, when it is removed. */
import type { AppState } from '@runner/common/apps';
import { newDeployId } from '@runner/common/events';
import type { Io } from '@runner/common/io';
import type { Paths } from '@runner/common/paths';
import { redactor } from '@runner/common/secret';
import { openDeployLog } from './deploy-log.ts';
import { driverFor } from './drivers/choose.ts';
import { fileOfRelease, targetOf } from './instance-target.ts';
import { StepFailure } from './step.ts';

/** Stops each instance by its own `.deploy.yml`; what cannot be stopped is noted. */
export async function stopInstances(
  io: Io,
  paths: Paths,
  app: AppState,
  note: (text: string) => void,
): Promise<void> {
  const redact = redactor();
  const log = openDeployLog(paths, app.app, newDeployId(io.random), redact, () => {});
  const signal = new AbortController().signal;
  for (const [name, { current }] of Object.entries(app.instances)) {
    const file = current && fileOfRelease(paths, app.app, current);
    if (!current || !file) continue;
    const instance = file.instances.find((each) => each.name === name) ?? {
      name,
      domain: undefined,
      env: {},
    };
    const { release, version, commit } = current;
    const target = targetOf({
      paths,
      env: io.env,
      app: app.app,
      file,
      instance,
      release,
      version,
      commit,
      log,
      redact,
      signal,
    });
    try {
      await driverFor(target.start).stop(target);
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      note(`${name} could not be stopped: ${error.message}`);
    }
  }
  log.close();
}
