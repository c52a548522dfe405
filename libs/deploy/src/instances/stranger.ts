/** Whether an answer on a port came from what a deploy started, or from something else. */
import { basename, dirname, join } from 'node:path';
import { allListeners, holds, listenersOn } from '../run/listeners.ts';
import { environmentOf, JOB_RUN, ownProcesses, releaseIn } from '../run/processes.ts';
import { type StepFailure, withEnding, withSeen } from '../run/step.ts';
import { type Asked, appFolderOf, type Target } from './drivers/driver.ts';
import { portsOf } from './ports.ts';
import { nameOf } from './reach.ts';

/** Who listens on a port instead of these processes, in words; undefined if they do. */
export function strangerTo(pids: readonly number[], port: number): string | undefined {
  const listeners = listenersOn(port);
  // Nothing listens here: the answer was forwarded.
  if (listeners.length === 0) return undefined;
  const known = pids.map((pid) => holds(pid, listeners));
  if (known.includes(true)) return undefined;
  const holder = ownProcesses().find((pid) => holds(pid, listeners));
  const uid = process.geteuid?.();
  // A program with capabilities hides its descriptors: it may be what listens if no other process is.
  const mayBeOurs = known.includes(undefined) && listeners.some((each) => each.uid === uid);
  if (holder === undefined && mayBeOurs) return undefined;
  return holder === undefined
    ? `a process of user ${listeners[0]?.uid}`
    : `another process (${nameOf(holder)}, ${holder})`;
}

/** The same for processes of these users. */
export function strangerToUsers(uids: readonly number[], port: number): string | undefined {
  const [first, ...others] = listenersOn(port);
  if (!first || [first, ...others].some(({ uid }) => uids.includes(uid))) return undefined;
  return `a process of user ${first.uid}`;
}

/** The processes of an app's instance that began with a release, and with which; runs of its jobs are not the app. */
export function processesOf({
  app,
  instance,
  paths,
}: Pick<Asked, 'app' | 'instance' | 'paths'>): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const pid of ownProcesses()) {
    const env = environmentOf(pid);
    const isOurs = env.RUNNER_APP === app && env.RUNNER_INSTANCE === instance.name;
    if (!isOurs || env[JOB_RUN] !== undefined) continue;
    const release = releaseIn(env, appFolderOf(paths));
    if (release !== undefined) found.set(pid, release);
  }
  return found;
}

/**
 * The version before that alone listens on a port (undefined: on any), in words. `before`: what ran when
 * the start began. A supervisor that has taken over the release may be as old: it then has new processes.
 */
export function versionBeforeOn(
  target: Target,
  port: number | undefined,
  before: ReturnType<typeof processesOf>,
): string | undefined {
  const now = [...processesOf(target)];
  const listeners = port === undefined ? allListeners() : listenersOn(port);
  const found = now.filter(([pid]) => holds(pid, listeners));
  const isNew = ([, release]: (typeof now)[number]) => release === basename(target.release);
  const hasTakenOver = now.some((each) => !isNew(each) && !before.has(each[0]));
  const [first] = found;
  if (!first || found.some(isNew) || hasTakenOver) return undefined;
  const [pid] = first;
  return `the version before (${nameOf(pid)}, ${pid}), which its start command could not end from its sandbox`;
}

/** The process of a target's own release that a restart should have ended, in words. */
export function stillRuns(target: Target, before: ReturnType<typeof processesOf>) {
  const release = basename(target.release);
  const pid = [...processesOf(target).keys()].findLast((each) => before.get(each) === release);
  return pid === undefined ? undefined : `what ran before (${nameOf(pid)}, ${pid})`;
}

/** The other registered app, or other instance, that listens on a port, in words. */
export function otherAppOn({ app, instance, paths }: Target, port: number): string | undefined {
  const listeners = listenersOn(port);
  if (listeners.length === 0) return undefined;
  const apps = dirname(appFolderOf(paths));
  for (const pid of ownProcesses()) {
    const env = environmentOf(pid);
    const { RUNNER_APP: name, RUNNER_INSTANCE: of } = env;
    const isOther = name !== undefined && (name !== app || of !== instance.name);
    if (!isOther || releaseIn(env, join(apps, name)) === undefined) continue;
    if (holds(pid, listeners)) return `the app ${name} (${of})`;
  }
  return undefined;
}

/** A failed start, with who has a port that the target needs: that may be why. */
export function withPortHolder(target: Target, failure: StepFailure): StepFailure {
  const { file, instance, start } = target;
  // With `traffic` the port was free.
  const ports = instance.traffic ? [] : portsOf(file, instance);
  const taken = ports.flatMap((port) => {
    const own = [...processesOf(target).keys()];
    const other = start.type === 'process' ? strangerTo(own, port) : undefined;
    const holder = otherAppOn(target, port) ?? other;
    return holder ? [`port ${port} is used by ${holder}`] : [];
  });
  const words = taken.join('; ');
  return words === '' ? failure : withSeen(withEnding(failure, `; ${words}`), words);
}
