/** What ran before an app had `traffic`: it is stopped once the proxy sends nothing there, and started by a boot. */
import { requireApp } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { underLock } from '../journal/lock.ts';
import { contextOf } from '../journal/operation.ts';
import { secretsOf } from '../journal/secrets.ts';
import { asStepFailure } from '../run/step.ts';
import { driverFor } from './drivers/choose.ts';
import { isRunning } from './steps.ts';
import { stopBeforeTraffic, stopping } from './stop.ts';
import { keptTarget } from './target.ts';

/** What `runner stop --before-traffic` prints. */
export interface StoppedBefore {
  app: string;
  result: 'stopped' | 'nothing_running';
  /** Each instance, and the version of it that was stopped. */
  instances: { instance: string; version: string }[];
}

function failed(error: unknown): never {
  throw new Failure('stop_failed', asStepFailure(error, 'start').message);
}

/** Throws `app_not_found`, `locked`, `stop_failed`. */
export async function stopAllBeforeTraffic(
  io: Io,
  paths: Paths,
  name: string,
): Promise<StoppedBefore> {
  return underLock({ io, paths, app: name }, 'stop', async () => {
    const app = requireApp(paths, name);
    const running = Object.keys(app.instances).filter(
      (each) => app.instances[each]?.before_traffic,
    );
    if (running.length === 0) return { app: name, result: 'nothing_running', instances: [] };
    const op = await stopping({ io, paths }, app);
    const instances = [];
    for (const instance of running) {
      const stopped = await stopBeforeTraffic(op, instance).catch(failed);
      if (stopped) instances.push({ instance, version: stopped.version });
    }
    op.log.close();
    return { app: name, result: 'stopped', instances };
  });
}

/** Starts it again after a reboot: the proxy may still send requests there. Throws a Failure, or a StepFailure if it does not start. */
export async function startAllBeforeTraffic(io: Io, paths: Paths, name: string): Promise<void> {
  await underLock({ io, paths, app: name }, 'start', async () => {
    const app = requireApp(paths, name);
    const op = contextOf({ io, paths }, app, await secretsOf({ io, paths }, app));
    try {
      for (const [instance, { before_traffic: before }] of Object.entries(app.instances)) {
        const target = before && keptTarget(op, instance, before);
        if (target && !isRunning(op, target)) await driverFor(target.start).start(target);
      }
    } finally {
      op.log.close();
    }
  });
}
