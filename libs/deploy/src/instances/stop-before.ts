/** Stopping what ran before an app had `traffic`, once the proxy sends nothing there. */
import { requireApp } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { underLock } from '../journal/lock.ts';
import { asStepFailure } from '../run/step.ts';
import { stopBeforeTraffic, stopping } from './stop.ts';

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
