/** Processes of this user, found in /proc by their environment or their session. */

import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupOf, type PidFile, sessionOf, startTimeOf } from '@runner/common/files/process';
import { orElse } from '@runner/common/foundation/attempt';

/** Set for every program that a deploy runs to its end: apps of `start.type: process` lack it. */
export const STEP = 'RUNNER_STEP';
/** Of everything that a run of a job starts: its ID. */
export const JOB_RUN = 'RUNNER_JOB_RUN';

/** Set for hooks alone. */
const OF_HOOKS = 'RUNNER_PROJECT';

const POLL = 20;
/** How often processes forked in the meantime are searched for. */
const ROUNDS = 5;
/** Time for a killed process to disappear, in milliseconds. */
const KILL_TIME = 2_000;
const KILL_POLL = 2;

/** Environment of a process, as it was when its program started. */
export type ProcessEnv = Readonly<Record<string, string | undefined>>;

/** Pids of this user's processes; not of the process group that this command runs in. */
export function ownProcesses(): number[] {
  return usersProcesses().filter(isElsewhere());
}

function usersProcesses(): number[] {
  const uid = process.geteuid?.();
  return allProcesses().filter(
    (pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid,
  );
}

/** The pids of all processes. */
export function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function isElsewhere(): (pid: number) => boolean {
  const group = groupOf(process.pid);
  return (pid) => groupOf(pid) !== group;
}

/** How often an empty environment is read again. */
const READS = 5;

/** Empty for a process that has ended. */
export function environmentOf(pid: number): ProcessEnv {
  try {
    let text = readFileSync(`/proc/${pid}/environ`, 'utf8');
    // While a process starts its program, it has none.
    for (let read = 1; text === '' && read < READS && hasProgram(pid); read += 1)
      text = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const entries = text.split('\0');
    return Object.fromEntries(
      entries.map((entry) => {
        const at = entry.indexOf('=');
        return [entry.slice(0, at), entry.slice(at + 1)];
      }),
    );
  } catch {
    return {};
  }
}

/** false for threads of the kernel, and for a process that has ended. */
function hasProgram(pid: number): boolean {
  return orElse(() => readlinkSync(`/proc/${pid}/exe`) !== '', false);
}

/** This user's processes whose environment satisfies the condition. */
export function processesWhere(wanted: (env: ProcessEnv) => boolean): number[] {
  // Few are left to be asked for their group.
  return usersProcesses()
    .filter((pid) => wanted(environmentOf(pid)))
    .filter(isElsewhere());
}

/** The processes of the session that a recorded process leads, also once it has ended. */
export function inSessionOf({ pid, start_time: since, session = pid }: PidFile): number[] {
  const now = startTimeOf(pid);
  const isReused = now !== undefined && now !== since;
  if (pid <= 1 || isReused) return [];
  return ownProcesses().filter(
    (each) => sessionOf(each) === session && Number(startTimeOf(each)) >= Number(since),
  );
}

/**
 * The release in an environment, if it is one of the app whose folder this is. The same names exist
 * under other roots, and a root may be reached by a symbolic link.
 */
export function releaseIn({ RUNNER_RELEASE: path }: ProcessEnv, app: string): string | undefined {
  if (path === undefined) return undefined;
  const releases = dirname(path);
  const folder = dirname(releases);
  const isOfApp = folder === app || realPath(folder) === realPath(app);
  return isOfApp && basename(releases) === 'releases' ? basename(path) : undefined;
}

function realPath(path: string): string {
  return orElse(() => realpathSync(path), path);
}

/** Whether a process only holds a sandbox: it passes no signal on, and ends after all inside. */
export function isHolder(pid: number): boolean {
  return orElse(() => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'bwrap\n', false);
}

/**
 * Ends what `find` finds: SIGTERM, and SIGKILL for what is left after `grace` milliseconds. What is
 * forked meanwhile is found again.
 */
export async function endProcesses(find: () => number[], grace: number): Promise<void> {
  const found = find();
  for (const pid of found) if (!isHolder(pid)) signal(pid, 'SIGTERM');
  await ended(found, grace);
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = find();
    if (left.length === 0) return;
    for (const pid of left) signal(pid, 'SIGKILL');
    await ended(left, KILL_TIME);
  }
}

/**
 * Kills at once what the dead deploy or rollback of an app left: what it started, and what that
 * started. `isWanted` chooses by the release.
 */
export function endDeploy(
  app: string,
  deployId: string,
  isWanted: (release: string, isStep: boolean) => boolean = () => true,
): void {
  killAll(() =>
    processesWhere((env) => {
      if (env.RUNNER_DEPLOY_ID !== deployId || env[JOB_RUN] !== undefined) return false;
      if (env.RUNNER_RELEASE === app) return true;
      const release = releaseIn(env, app);
      return release !== undefined && isWanted(release, env[STEP] !== undefined);
    }),
  );
}

/** What runs now of the hooks of every app; returns that of the app whose folder it gets. */
export function runningHooks(): (app: string) => number[] {
  const hooks = processesWhere((env) => env[STEP] !== undefined && env[OF_HOOKS] !== undefined);
  return (app) =>
    hooks.filter((pid) => {
      const env = environmentOf(pid);
      return env.RUNNER_RELEASE === app || releaseIn(env, app) !== undefined;
    });
}

/** Kills the hooks of an app that a dead process left: under the app's lock no other process runs one. */
export function endHooks(app: string): void {
  killAll(() => runningHooks()(app));
}

/**
 * Kills what `find` returns until it returns nothing, because processes may fork in the meantime, and
 * waits for their end: a process has no environment any more while it still holds its port.
 */
function killAll(find: () => number[]): void {
  const until = performance.now() + KILL_TIME;
  for (let left = find(); left.length > 0 && performance.now() < until; left = find()) {
    const live = anyOf(left);
    for (const pid of left) signal(pid, 'SIGKILL');
    while (live() && performance.now() < until)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, KILL_POLL);
  }
}

/** The releases of an app that a process works in or was started for, such as one that drains. */
export function releasesInUse(app: string): ReadonlySet<string> {
  const releases = `${realPath(app)}/releases/`;
  const isOther = isElsewhere();
  const found = usersProcesses().flatMap((pid) => {
    const folder = orElse(() => readlinkSync(`/proc/${pid}/cwd`), '');
    const name = folder.startsWith(releases)
      ? folder.slice(releases.length).split('/')[0]
      : undefined;
    const names = [releaseIn(environmentOf(pid), app), name].filter((each) => each !== undefined);
    return names.length > 0 && isOther(pid) ? names : [];
  });
  return new Set(found);
}

/** Kills at once every process with this variable in its environment. */
export function endWithVariable(name: string, value: string): void {
  killAll(() => processesWhere((env) => env[name] === value));
}

/** Signals a process, or with a negative pid a group, unless it has ended already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  orElse(() => process.kill(pid, name), false);
}

/** Whether any of these processes still runs. */
function anyOf(pids: readonly number[]): () => boolean {
  const starts = pids.map((pid) => [pid, startTimeOf(pid)] as const);
  return () => starts.some(([pid, start]) => start !== undefined && startTimeOf(pid) === start);
}

/** Waits until all have ended, up to `patience` milliseconds. */
async function ended(pids: readonly number[], patience: number): Promise<void> {
  const live = anyOf(pids);
  const until = performance.now() + patience;
  while (live() && performance.now() < until) {
    await sleep(POLL);
  }
}
