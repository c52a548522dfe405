/** Stopping the instances of an app that is removed, instances that left `.deploy.yml`, and what ran before `traffic`. */
import { changeApp } from '@runner/common/apps/change';
import type { Deployed } from '@runner/common/apps/deployed';
import { asleepSince, liveLink, liveSlot, SLOTS } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { folderNamesIn } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { underLock } from '../journal/lock.ts';
import { contextOf, type Operation, say, uninterrupted } from '../journal/operation.ts';
import { secretsAnyway, secretsOf } from '../journal/secrets.ts';
import { asStepFailure, failureOf, StepFailure } from '../run/step.ts';
import { linkTo, placedRelease, switchOff } from './current-link.ts';
import { driverFor } from './drivers/choose.ts';
import type { Target } from './drivers/driver.ts';
import { endInstance } from './drivers/process.ts';
import { fileOfRelease } from './kept-file.ts';
import { forgetBeforeTraffic, instancePaths, instanceState, stopSlot } from './slots.ts';
import { isRunning, stopUnlessBeside } from './steps.ts';
import { keptTarget } from './target.ts';

/** The context of stopping something of an app, which needs no key. */
async function stopping(server: Server, app: AppState): Promise<Operation> {
  return uninterrupted(contextOf(server, app, await secretsAnyway(server, app)));
}

/** Stops each instance as its own `.deploy.yml` says. Returns what could not be stopped, and why. */
export async function stopInstances(server: Server, app: AppState): Promise<string[]> {
  const op = await stopping(server, app);
  const problems: string[] = [];
  for (const name of instanceNames(op)) {
    const current = app.instances[name]?.current;
    const problem =
      (current && (await stopOne(op, name, current))) || (await stopUnfinished(op, name));
    if (problem) problems.push(op.redact(problem));
  }
  op.log.close();
  return problems;
}

/** Also of instances that a first deploy made, which are not in the state yet. */
export function instanceNames({ paths, app }: Operation): string[] {
  const folders = folderNamesIn(paths.app(app.app).instances);
  return [...new Set([...Object.keys(app.instances), ...folders])];
}

/** Stops what a deploy that was killed has put into an instance. Returns why it could not. */
async function stopUnfinished(op: Operation, name: string): Promise<string | undefined> {
  const { app, deploying, instances } = op.app;
  if (!deploying) return undefined;
  const paths = instancePaths(op, name);
  const release = placedRelease(op.paths, app, name);
  const isOther = release !== undefined && release !== instances[name]?.current?.release;
  const target = isOther && keptTarget(op, name, { ...deploying, release });
  const failure = await failureOf('start', async () => {
    for (const slot of SLOTS)
      if (instanceState(op, name).slots?.[slot]) await stopSlot(op, name, slot);
    if (target && target.slot === undefined) await driverFor(target.start).stop(target);
    await endInstance({ app, instance: { name }, slot: undefined, paths });
  });
  return failure && `${name} could not be stopped: ${failure.message}`;
}

/** Instances that nothing stops: `command` without `stop`. A sentence each. */
export function unstoppable(paths: Paths, { app, instances }: AppState): string[] {
  return Object.entries(instances).flatMap(([name, { current }]) => {
    const file = current && fileOfRelease(paths, app, current);
    const words = 'its .deploy.yml has no stop command; what it started may still run';
    const isLeft = file?.start.type === 'command' && file.stop === undefined;
    return isLeft ? [`${name} was not stopped: ${words}`] : [];
  });
}

/** Stops one instance as the `.deploy.yml` of its version says. Returns why it could not. */
async function stopOne(op: Operation, name: string, current: Deployed) {
  const running = keptTarget(op, name, current);
  if (!running) return `${name} was not stopped: its .deploy.yml cannot be read`;
  const failure = await failureOf('start', () => stopAllOf(op, name, running));
  return failure && `${name} could not be stopped: ${failure.message}`;
}

/** Stops an instance; also what drains, and what ran before `traffic`. Throws a StepFailure. */
export async function stopAllOf(op: Operation, name: string, running: Target): Promise<void> {
  const { slots, before_traffic: before } = instanceState(op, name);
  const own = instancePaths(op, name);
  const live = liveSlot(own);
  // A request must not wake what is stopped.
  if (live && asleepSince(own)) linkTo(liveLink(own), live);
  await stopUnlessBeside(op, running, undefined);
  for (const slot of SLOTS) if (slots?.[slot]) await stopSlot(op, name, slot);
  if (before) await stopBeforeTraffic(op, name);
}

/** Stops what ran before the app had `traffic`, and forgets it. Returns its version, if there is one. */
export async function stopBeforeTraffic(op: Operation, name: string) {
  const { before_traffic: before } = instanceState(op, name);
  if (!before) return undefined;
  const target = keptTarget(op, name, before);
  const unread = `${before.version} cannot be stopped: its .deploy.yml cannot be read`;
  if (!target || target.slot !== undefined) throw new StepFailure('start', unread);
  await driverFor(target.start).stop(target);
  forgetBeforeTraffic(op, name);
  return before;
}

/** Stops and forgets instances that are no longer in `.deploy.yml`, which ends the deploy. */
export async function stopRemoved(op: Operation, gone: readonly string[]): Promise<AppState> {
  const { io, paths, app } = op;
  if (gone.length === 0) return requireApp(paths, app.app);
  const unstopped = unstoppable(paths, app);
  for (const name of gone) {
    const current = app.instances[name]?.current;
    const problem = current && (await stopOne(op, name, current));
    if (problem) say(op, problem);
    switchOff(instancePaths(op, name));
    const what = unstopped.find((each) => each.startsWith(`${name} `)) ?? 'it was stopped';
    say(op, `the instance ${name} is no longer in .deploy.yml: ${what}`);
  }
  return changeApp({ io, paths, command: 'deploy', app: app.app }, (now) => ({
    ...now,
    deploying: null,
    instances: Object.fromEntries(
      Object.entries(now.instances).filter(([name]) => !gone.includes(name)),
    ),
  }));
}

/** What `runner stop --before-traffic` prints. */
export interface StoppedBefore {
  app: string;
  result: 'stopped' | 'nothing_running';
  /** Each instance, and the version of it that was stopped. */
  instances: { instance: string; version: string }[];
}

/** Stops it once the proxy sends nothing there. Throws `app_not_found`, `locked`, `stop_failed`. */
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
      const stopped = await stopBeforeTraffic(op, instance).catch((error: unknown) => {
        throw new Failure('stop_failed', asStepFailure(error, 'start').message);
      });
      if (stopped) instances.push({ instance, version: stopped.version });
    }
    op.log.close();
    return { app: name, result: 'stopped', instances };
  });
}

/** Starts what ran before `traffic` again after a reboot: the proxy may still send requests there. Throws a Failure, or a StepFailure if it does not start. */
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
