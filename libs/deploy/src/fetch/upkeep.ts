/** What `fetch` keeps up, held requests, and what `--deploy` finishes: hooks and drains that were killed, and with `traffic` a reboot. */
import { removalOf } from '@runner/common/apps/preview';
import { asleepSince, liveSlot } from '@runner/common/apps/slots';
import type { AppState, InstanceState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { takeLock } from '@runner/common/files/lock';
import { bootId } from '@runner/common/files/process';
import { keepHold } from '../hold/traffic.ts';
import { isKeptWarm } from '../instances/drain.ts';
import { activationOf, isRunning } from '../instances/steps.ts';
import { keptTarget } from '../instances/target.ts';
import { contextOf, type Operation, say, uninterrupted } from '../journal/operation.ts';
import { secretsOf } from '../journal/secrets.ts';
import { runSteps } from '../journal/step.ts';
import { endDrains } from '../operation/go-back.ts';
import { silent } from '../report/notifier.ts';
import { endHooks, runningHooks } from '../run/processes.ts';
import { asStepFailure } from '../run/step.ts';
import { startWatcher } from '../watch/start.ts';
import type { FetchRequest } from './request.ts';

/**
 * Keeps holds of requests up. With `--deploy` also ends the hooks of dead deploys, starts what is live
 * after a reboot, and ends what drains. Never throws.
 */
export async function keepUp(request: FetchRequest, names: readonly string[]): Promise<void> {
  const hooks = request.deploy && names.length > 0 ? runningHooks() : () => [];
  for (const name of names) await keepOneUp(request, name, hooks);
}

type Hooks = ReturnType<typeof runningHooks>;

async function keepOneUp(request: FetchRequest, name: string, hooks: Hooks): Promise<void> {
  const { io, paths, reporter } = request;
  try {
    const note = (text: string) => reporter.note(text);
    await keepHold({ io, paths, app: name, note });
    if (!request.deploy) return;
    const app = findApp(paths, name);
    if (!app) return;
    const hasLeft = !app.deploying && !removalOf(app) && hasWork(paths, app, hooks);
    if (hasLeft && !(await finishWork(request, app))) return;
    // Its watcher has died. After a reboot it must not judge what has not been started yet.
    if (app.watch) await startWatcher(request, name);
  } catch (error) {
    reporter.note(`${name}: ${asStepFailure(error, 'start').message}`);
  }
}

/** Returns false if another command is at work. */
async function finishWork(request: FetchRequest, app: AppState): Promise<boolean> {
  const { io, paths, reporter } = request;
  const secrets = await secretsOf(request, app);
  const op = uninterrupted(contextOf({ io, paths, reporter }, app, secrets));
  // Not `silent`, which a version that dies in its drain replaces.
  if (!request.notify) op.notifier = { ...silent };
  const holder = { pid: io.pid, command: 'fetch', since: io.now().toISOString() };
  const lock = takeLock(paths.lock(app.app), 0, holder);
  if (!lock) return false;
  try {
    endHooks(paths.app(app.app).dir);
    for (const instance of downSinceBoot(paths, app)) await startLive(op, instance);
  } finally {
    lock.release();
  }
  await endDrains(op);
  op.log.close();
  return true;
}

function hasWork(paths: FetchRequest['paths'], app: AppState, hooks: Hooks): boolean {
  if (hooks(paths.app(app.app).dir).length > 0) return true;
  const isDraining =
    !isKeptWarm(app) && Object.values(app.instances).some(({ draining }) => draining);
  return isDraining || downSinceBoot(paths, app).length > 0;
}

/** Instances whose live slot was started before the last boot. */
function downSinceBoot(paths: FetchRequest['paths'], { app, instances }: AppState): string[] {
  const isDown = ([name, { slots }]: [string, InstanceState]) => {
    const own = paths.app(app).instance(name);
    const live = asleepSince(own) ? undefined : liveSlot(own);
    const held = live && slots?.[live];
    return held && held.boot_id !== bootId();
  };
  return Object.entries(instances)
    .filter(isDown)
    .map(([name]) => name);
}

async function startLive(op: Operation, instance: string): Promise<void> {
  const current = findApp(op.paths, op.app.app)?.instances[instance]?.current;
  const target = current && keptTarget(op, instance, current);
  if (!target) return;
  const ran = isRunning(op, target);
  const failed = await runSteps(op, activationOf(op, target));
  if (ran && !failed) return;
  const end = failed
    ? `could not be started: ${failed.error.message}`
    : 'was started after a reboot';
  say(op, `${op.app.app}: ${instance} ${end}`);
}
