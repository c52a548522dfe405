/** Putting to sleep what no one has used for a while: its requests go to the waker, and its process ends. */
import { lutimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openBelowInstance } from '@runner/common/apps/instance-folder';
import { type SleepRule, sleepRule } from '@runner/common/apps/sleeping';
import {
  asleepSince,
  liveLink,
  liveRun,
  liveSlot,
  sleepingIn,
  slotPaths,
  socketIn,
} from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { isRunning } from '@runner/common/files/process';
import { inFolder } from '@runner/common/files/tree';
import { orElse, unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { inWords } from '@runner/common/text/time';
import { linkTo } from '../instances/current-link.ts';
import { finishRequests } from '../instances/drain.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { isOpen } from '../instances/reach.ts';
import { whatRuns } from '../instances/running.ts';
import { letPass } from '../instances/slots.ts';
import { keptTarget } from '../instances/target.ts';
import { eventsOf, recordAnyway } from '../journal/events.ts';
import { type Operation, uninterrupted } from '../journal/operation.ts';
import { secretsAnyway } from '../journal/secrets.ts';
import { operate } from '../operation/operate.ts';
import type { Reporter } from '../report/reporter.ts';
import { connectionsTo } from '../run/connections.ts';
import { availableMemory } from '../run/memory.ts';
import { asStepFailure } from '../run/step.ts';

/** With less memory than this, in bytes, apps fall asleep sooner. */
const MEMORY = 256 * 2 ** 20;

interface SleepRequest extends Server {
  readonly reporter: Reporter;
}

/** Looks at the apps that may sleep, and puts to sleep those that are to. Never throws. */
export async function letSleep(request: SleepRequest, names: readonly string[]): Promise<void> {
  const { io, paths, reporter } = request;
  const apps = names.flatMap((name) => unlessFailure(() => findApp(paths, name), undefined) ?? []);
  const awake = apps.flatMap((app) => awakeIn(paths, app, io.now()));
  const isShort = availableMemory() < MEMORY;
  const found = [...sleepersIn(awake, isShort), ...(await leftRunning(request, apps))];
  // Without the waker no request would bring it back.
  if (found.length === 0 || !(await isOpen(paths.wakerSocket))) return;
  for (const { app, instance } of found) {
    try {
      await fallAsleep(request, app, instance);
    } catch (error) {
      const isBusy = error instanceof Failure && error.code === 'locked';
      if (!isBusy) reporter.note(`${app}: ${asStepFailure(error, 'switch').message}`);
    }
  }
}

/** The instances of an app that run, and may sleep now. */
function awakeIn(paths: Paths, app: AppState, now: Date): Awake[] {
  const rule = sleepRule(app);
  if (!rule || app.deploying || app.watch) return [];
  return Object.keys(app.instances).flatMap((instance) => {
    const own = paths.app(app.app).instance(instance);
    const slot = slotToSleep(paths, app, instance);
    if (!slot || asleepSince(own)) return [];
    const idle = idleTime(slotPaths(own, slot).dir, now);
    return idle === undefined ? [] : [{ ...rule, app: app.app, instance, idle }];
  });
}

/** The slot of an instance that may sleep: with an address to wake it by, and nothing under way. */
function slotToSleep(
  paths: Paths,
  { app, instances, stopped, traffic_hold }: AppState,
  name: string,
) {
  const { current, slots, draining, broken, before_traffic: before } = instances[name] ?? {};
  const live = liveSlot(paths.app(app).instance(name));
  const isBusy = traffic_hold || draining || broken || before || stopped?.instances.includes(name);
  const isKnown = live && slots?.[live]?.release === current?.release && current?.url;
  return isKnown && !isBusy ? live : undefined;
}

/** What sleeps and still runs: its process was to be ended when a `fetch` was killed, or a start failed. */
async function leftRunning({ io, paths }: Server, apps: readonly AppState[]) {
  const asleep = apps.flatMap((app) => {
    const isAsleep = (name: string) => asleepSince(paths.app(app.app).instance(name));
    const names = app.deploying ? [] : Object.keys(app.instances).filter(isAsleep);
    return names.map((instance) => ({ app: app.app, instance }));
  });
  const isSupervised = (each: (typeof asleep)[number]) =>
    isRunning(liveRun(paths.app(each.app).instance(each.instance))) === null;
  const names = new Set(asleep.filter(isSupervised).map(({ app }) => app));
  const { runs } = await whatRuns(
    { io, paths },
    apps.filter(({ app }) => names.has(app)),
  );
  return asleep.filter(
    ({ app, instance }) =>
      isRunning(liveRun(paths.app(app).instance(instance))) ?? runs(app, instance),
  );
}

/** The order loses no request: first new ones go to the waker, then those under way end, then the process. */
async function fallAsleep(request: SleepRequest, app: string, instance: string): Promise<void> {
  const { io, paths } = request;
  const open = (state: AppState) => secretsAnyway(request, state);
  const own = { ...request, app, trigger: 'fetch', notify: false };
  await operate(own, 'sleep', { open }, async (op) => {
    const target = sleeper(op, instance);
    if (!target?.slot) return;
    const { slot } = target;
    const own = paths.app(app).instance(instance);
    const wasAwake = !asleepSince(own);
    const idle = idleTime(target.paths.dir, io.now());
    // A request came while this waited for the lock.
    if (wasAwake && (idle ?? 0) < Math.min(sleepRule(op.app)?.after ?? 0, MINIMUM)) return;
    const folder = join(own.dir, sleepingIn(slot));
    linkTo(socketIn(folder), paths.wakerSocket);
    linkTo(join(folder, 'current'), join('..', slot, 'current'));
    letPass(folder);
    linkTo(liveLink(own), sleepingIn(slot));
    await finishRequests(uninterrupted(op), instance, slot);
    if (connectionsTo(socketIn(target.paths.dir)) > 0) return linkTo(liveLink(own), slot);
    await driverFor(target.start).stop(target);
    if (!wasAwake) return;
    const { commit, version, file } = target;
    const origin = { ...op, commit, version };
    const reason = `asleep: no request for ${inWords(idle ?? 0)}`;
    const place = { origin, kind: 'AppStopped', instances: [instance], file } as const;
    recordAnyway(op, eventsOf(place, { reason }));
  });
}

/** Used in the last seconds: not asleep yet, in milliseconds. */
const MINIMUM = 1_000;

/** What runs of an instance that may sleep, as it is under the lock; undefined if it must not. */
function sleeper(op: Operation, instance: string): Target | undefined {
  const { app, paths } = op;
  const slot = app.watch ? undefined : slotToSleep(paths, app, instance);
  const current = app.instances[instance]?.current;
  const target =
    slot && current ? keptTarget(uninterrupted(op), instance, current, slot) : undefined;
  const canStop = target?.start.type !== 'command' || target.stop !== undefined;
  return target?.instance.traffic?.type === 'socket' && canStop ? target : undefined;
}

/**
 * Milliseconds since the last connection to the socket in a slot; 0 while one is open, undefined without a
 * socket. The kernel sets a socket's access time at a connection, with `relatime` only if it is not newer
 * than the socket's other times: so each look makes them the same again. With `noatime`, only
 * connections that are open at a look count.
 */
function idleTime(slot: string, now: Date): number | undefined {
  const path = socketIn(slot);
  const name = basename(path);
  const look = () =>
    inFolder(openBelowInstance(slot), (folder) => {
      const stats = folder.stat(name);
      if (!stats?.isSocket()) return undefined;
      const isOpen = connectionsTo(path) > 0;
      const last = isOpen ? now.getTime() : Math.max(stats.atimeMs, stats.mtimeMs);
      // The socket may be another user's.
      if (last > stats.mtimeMs)
        orElse(() => lutimesSync(folder.path(name), last / 1_000, last / 1_000), undefined);
      return Math.max(0, now.getTime() - last);
    });
  return orElse(look, undefined);
}

/** An instance that runs and may sleep. */
interface Awake extends SleepRule {
  readonly app: string;
  readonly instance: string;
  /** In milliseconds. */
  readonly idle: number;
}

/** What was used more recently does not make room for others, in milliseconds. */
const QUIET = 30_000;

/**
 * Those that fall asleep now: idle for long enough, or beyond the limit, the longest idle first. If memory
 * `isShort` and none of them does, the longest idle.
 */
function sleepersIn(awake: readonly Awake[], isShort: boolean): Awake[] {
  const longest = [...awake].sort((one, other) => other.idle - one.idle);
  const isDue = ({ idle, after }: Awake) => idle >= after;
  const others = longest.filter((each) => !isDue(each));
  const isBeyond = ({ of, limit, idle }: Awake, at: number) =>
    idle >= QUIET && others.slice(at).filter((each) => each.of === of).length > limit;
  const found = [...longest.filter(isDue), ...others.filter(isBeyond)];
  const [first] = longest;
  return isShort && found.length === 0 && first && first.idle >= QUIET ? [first] : found;
}
