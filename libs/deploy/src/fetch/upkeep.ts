/** What `fetch --deploy` finishes for apps with `traffic`: drains that were killed, and a reboot. */
import { openSecrets } from '@runner/common/app-secrets/open';
import { liveSlot } from '@runner/common/apps/slots';
import type { AppState, InstanceState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import { takeLock } from '@runner/common/files/lock';
import { bootId } from '@runner/common/files/process';
import { redactorForAny } from '@runner/common/redaction/redact';
import { bringUp } from '../instances/bring-up.ts';
import { drainAll } from '../instances/drain.ts';
import { goLive } from '../instances/slots.ts';
import { keptTarget, type TargetBase, uninterrupted } from '../instances/target.ts';
import { openDeployLog } from '../run/log.ts';
import { asStepFailure, failureOf } from '../run/step.ts';
import { openSandboxAnyway } from '../sandbox/sandbox.ts';
import type { FetchRequest } from './request.ts';

/** Starts what is live after a reboot, and ends what drains. Never throws. */
export async function keepUp(request: FetchRequest, name: string): Promise<void> {
  const { io, paths, reporter } = request;
  try {
    const app = findApp(paths, name);
    if (!app || app.deploying || !hasWork(paths, app)) return;
    const redact = await redactorForAny({ paths, env: io.env }, name);
    const secrets = openSecrets(paths, io.env, name);
    const sandbox = openSandboxAnyway({ paths, env: io.env, app: name });
    const deployId = newDeployId(io.random);
    const log = openDeployLog(paths, name, deployId, redact, () => {});
    const base = uninterrupted({
      io,
      paths,
      app,
      deployId,
      log,
      redact,
      reporter,
      secrets,
      sandbox,
    });
    const holder = { pid: io.pid, command: 'fetch', since: io.now().toISOString() };
    const lock = takeLock(paths.lock(name), 0, holder);
    if (!lock) return;
    try {
      for (const instance of downSinceBoot(paths, app)) await startLive(base, instance);
    } finally {
      lock.release();
    }
    await drainAll(base, reporter);
    log.close();
  } catch (error) {
    reporter.note(`${name}: ${asStepFailure(error, 'start').message}`);
  }
}

function hasWork(paths: FetchRequest['paths'], app: AppState): boolean {
  const isDraining = Object.values(app.instances).some(({ draining }) => draining);
  return isDraining || downSinceBoot(paths, app).length > 0;
}

/** Instances whose live slot was started before the last boot. */
function downSinceBoot(paths: FetchRequest['paths'], { app, instances }: AppState): string[] {
  const isDown = ([name, { slots }]: [string, InstanceState]) => {
    const live = liveSlot(paths.app(app).instance(name));
    const held = live && slots?.[live];
    return held && held.boot_id !== bootId();
  };
  return Object.entries(instances)
    .filter(isDown)
    .map(([name]) => name);
}

async function startLive(base: TargetBase, instance: string): Promise<void> {
  const current = findApp(base.paths, base.app)?.instances[instance]?.current;
  const target = current && keptTarget(base, instance, current);
  if (!target) return;
  const failure = await failureOf('start', async () => {
    await bringUp(base, target, (_, body) => body());
    await goLive(base, target);
  });
  const end = failure ? `could not be started: ${failure.message}` : 'was started after a reboot';
  base.say(`${base.app}: ${instance} ${end}`);
}
