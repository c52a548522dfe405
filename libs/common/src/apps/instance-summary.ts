/** What `list` and `status` show of an instance. */
import type { RetryPolicy } from '../config/settings.ts';
import { isRunning } from '../files/process.ts';
import { isThere } from '../files/read.ts';
import { orElse } from '../foundation/attempt.ts';
import type { Paths } from '../foundation/paths.ts';
import type { Deployed } from './deployed.ts';
import type { CommandPlan } from './plans.ts';
import { removalOf } from './preview.ts';
import { asleepSince, type Draining, liveSlot, slotPaths, socketIn } from './slots.ts';
import type { AppState, InstanceState } from './state.ts';

/** One instance of an app. */
export type InstanceSummary = ReturnType<typeof instanceSummary>;

/** What a supervisor has counted since the instance was started. */
export interface Restarts {
  readonly count: number;
  /** The kernel killed a process of it for want of memory. */
  readonly oom: boolean;
}

/** What a summary depends on, apart from the state. */
export interface View {
  /** Matters only after a failure. */
  readonly retries: RetryPolicy;
  readonly now: Date;
  /** Whether an instance runs, as its supervisor says. Without it only processes of our own are known. */
  runs?(app: string, instance: string): boolean | null;
  /** The processes of an instance that a supervisor runs, if it reports them. */
  pids?(app: string, instance: string): readonly number[];
  /** undefined: its supervisor does not count. */
  restarts?(app: string, instance: string): Restarts | undefined;
  /** Whether a plan can no longer be applied, as secrets, settings or anything else it is bound to changed. */
  isOutdated?(app: AppState, plan: CommandPlan): boolean;
  /** This user may only view the apps: their folders, locks and plans are not looked into, for a refusal is slow. */
  readonly isClosed?: boolean;
}

const NEVER_DEPLOYED: InstanceState = { current: null, previous: [] };

export function instanceSummary(
  paths: Paths,
  all: AppState,
  instance: string,
  { runs, isClosed }: View,
) {
  const { app, stopped, restored, instances } = all;
  const state = instances[instance] ?? NEVER_DEPLOYED;
  const { current, active_since, active_by, broken, previous, draining, before_traffic } = state;
  const { releases, release, instance: folderOf } = paths.app(app);
  const isKept = (each: Deployed) =>
    isClosed || !isThere(releases) || isThere(release(each.release));
  const own = folderOf(instance);
  const live = isClosed ? undefined : orElse(() => liveSlot(own), undefined);
  // It may live on without the socket that its requests need.
  const isDeaf =
    live !== undefined &&
    state.slots?.[live]?.port === null &&
    !isThere(socketIn(slotPaths(own, live).dir));
  const isSeen = (slot = live) =>
    isClosed ? null : orElse(() => isRunning(slotPaths(own, slot).run), null);
  const isUp = () => !isDeaf && (isSeen() ?? runs?.(app, instance) ?? null);
  const asleep = isClosed ? undefined : asleepSince(own);
  const ran = restored?.instances[instance];
  return {
    instance,
    current,
    /** Where it is found; null if that is not known. */
    url: typeof current?.url === 'string' ? current.url : null,
    /** When `current` became active; null without one. */
    active_since: current && (active_since ?? current.deployed_at),
    /** Who made it active; null if that is not known. */
    active_by: (current && active_by) ?? null,
    /** Whether it runs; null if it sleeps, or its supervisor cannot know, did not answer or was not asked. */
    running: ran ? false : current && (asleep ? null : isUp()),
    /** An operator stopped it, or its preview was removed. */
    stopped: stopped?.instances.includes(instance) ?? removalOf(all) !== undefined,
    /** Since when and why no version could be started. */
    broken: broken ?? null,
    /** Earlier good versions whose releases are kept. */
    previous: previous.filter(isKept),
    /** The release of `current` is no longer there. */
    ...(current && !isKept(current) && { gone: true }),
    /** What ran before a restore, and is not deployed here yet. */
    ...(ran && { restored: ran }),
    /** The slot that gets the requests; absent without `traffic`. */
    ...(live && { live }),
    /** Since when it sleeps: the next request wakes it. */
    ...(asleep && { asleep: asleep.toISOString() }),
    // What is live does not drain: the state could not be written when it became that again.
    /** The slot that finishes its last requests, or is kept warm; `running`: as above, of a process of our own. */
    ...(draining &&
      draining.slot !== live && {
        draining: { ...withoutRecord(draining), running: isSeen(draining.slot) },
      }),
    /** What ran without `traffic` and still does. */
    ...(before_traffic && { before_traffic }),
  };
}

const withoutRecord = ({ slot, since, until }: Draining): Draining => ({ slot, since, until });
