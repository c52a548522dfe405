/**
 * `start.type: process`: a detached session with a pidfile. Nothing restarts it after a crash: for
 * containers, the demo and tests. Otherwise use a supervisor.
 */

import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, realpathSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeBelowInstance } from '@runner/common/apps/instance-folder';
import { STOP_TIMEOUTS, type StartOf } from '@runner/common/deploy-file/start';
import {
  bootId,
  isBusy,
  type PidFile,
  parentOf,
  pidFileIn,
  recordedProcess,
  runningPid,
  startTimeOf,
} from '@runner/common/files/process';
import { isThere, makeFolder, removeIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { type SandboxProcess, spawnDetached } from '../../run/inside.ts';
import { markOutput } from '../../run/output-marks.ts';
import {
  endProcesses,
  environmentOf,
  inSessionOf,
  isHolder,
  JOB_RUN,
  ownProcesses,
  type ProcessEnv,
  processesWhere,
  releaseIn,
  STEP,
} from '../../run/processes.ts';
import { loggedFailure, StepFailure } from '../../run/step.ts';
import { strangerTo } from '../stranger.ts';
import { appFolderOf, type Driver, type Started, type Target } from './driver.ts';
import { endOfFile, type KeptOutput, keepOutput } from './kept-output.ts';

type StartOfProcess = StartOf<'process' | 'command'>;

/** How much of the app's output an early death shows, in bytes. */
const OUTPUT_MAX = 65_536;

/** Names an instance, and where its record is. */
type ProcessOwner = Pick<Target, 'app' | 'slot' | 'paths'> & {
  readonly instance: Pick<Target['instance'], 'name'>;
};

/**
 * What runs of an instance: the session of the recorded process, and what carries the instance's
 * names, no matter what started it. The steps of the deploy `atWork` are not the app.
 */
function processesOf({ app, instance, slot, paths }: ProcessOwner, atWork?: string): number[] {
  const folder = appFolderOf(paths);
  const recorded = isOwnFolder(paths) ? recordedProcess(paths.run) : undefined;
  // The app may have written its record itself, with the session of another app. What was started before
  // the root was moved names a folder that is not there.
  const isOthers = (env: ProcessEnv) =>
    (env.RUNNER_APP ?? app) !== app ||
    (env.RUNNER_RELEASE !== undefined &&
      releaseIn(env, folder) === undefined &&
      isThere(env.RUNNER_RELEASE));
  const session = recorded ? inSessionOf(recorded) : [];
  const named = processesWhere((env) => {
    if (env.RUNNER_APP !== app || env.RUNNER_INSTANCE !== instance.name) return false;
    if (env.RUNNER_SLOT !== slot) return false;
    // A run of a job has the names of its instance, and goes on when the app is stopped.
    if (env[JOB_RUN] !== undefined) return false;
    if (env[STEP] !== undefined && env.RUNNER_DEPLOY_ID === atWork) return false;
    const release = releaseIn(env, folder);
    // What a build left, such as a compiler's daemon, is not the app.
    return release !== undefined && !release.startsWith('.tmp-');
  });
  return [...new Set([...session.filter((pid) => !isOthers(environmentOf(pid))), ...named])];
}

/** Ends all that runs of an instance, as the `.deploy.yml` says by which it was started. */
function end(owner: ProcessOwner, atWork?: string): Promise<void> {
  const { stop_timeout: grace = STOP_TIMEOUTS.process } = recordedProcess(owner.paths.run) ?? {};
  return endProcesses(() => processesOf(owner, atWork), grace);
}

/** Whether the folder of its records is the instance's: the app may have put a link in its place. */
function isOwnFolder(paths: ProcessOwner['paths']): boolean {
  const folder = appFolderOf(paths);
  // The folder is missing.
  return orElse(
    () => realpathSync(paths.run) === join(realpathSync(folder), relative(folder, paths.run)),
    false,
  );
}

/** Ends all that runs of an instance, and removes its record. */
export async function endInstance(owner: ProcessOwner, atWork?: string): Promise<void> {
  await end(owner, atWork);
  if (isOwnFolder(owner.paths)) removeIfThere(pidFileIn(owner.paths.run));
}

const NO_PROCESS: PidFile = { pid: 0, start_time: '', boot_id: '' };

function note({ paths }: Target, record: PidFile): void {
  writeBelowInstance(pidFileIn(paths.run), `${JSON.stringify(record)}\n`);
}

/**
 * Starts the app, with a record of it in any case: without one it would run on unnoticed. Returns the child,
 * and the pid that stands for the app.
 */
async function spawnNoted(target: Target, { run, stopTimeout }: StartOfProcess, output: number) {
  const { release: cwd, env } = target;
  const program = { file: '/bin/sh', args: ['-c', run], cwd, env, output };
  const { child, inside } = spawnDetached({ ...program, confinement: target.confine('app') });
  if (child.pid === undefined) return { child, pid: undefined };
  const record = { ...identityOf(child.pid), stop_timeout: stopTimeout };
  try {
    note(target, record);
    const app = inside && (await recordInside(child, inside));
    if (app) note(target, { ...record, ...app });
    return { child, pid: app?.pid ?? child.pid };
  } catch (error) {
    inside?.kill();
    await endProcesses(() => inSessionOf(record), 0);
    throw error;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null;

function identityOf(pid: number): PidFile {
  return { pid, start_time: startTimeOf(pid) ?? '', boot_id: bootId() };
}

/** The app's first process in the sandbox, which bubblewrap is about to start; undefined if it has ended. */
async function recordInside(child: ChildProcess, { first }: SandboxProcess) {
  const session = await first;
  if (session === undefined) return undefined;
  for (; !hasEnded(child); await sleep(1)) {
    const [pid] = ownProcesses().filter((each) => parentOf(each) === session && !isHolder(each));
    if (pid !== undefined) return { ...identityOf(pid), session };
  }
  return undefined;
}

/** Whether something of the app still runs. */
const hasLeft = (target: Target) =>
  processesOf(target, target.env.RUNNER_DEPLOY_ID).some((pid) => !isHolder(pid));

/** Why the app's first process ended. */
function wordsOf(target: Target, code: number | null, by: NodeJS.Signals | null): string {
  if (by) return `was ended by ${by}`;
  if (code !== 0 || !hasLeft(target)) return `ended with status ${code}`;
  return 'went into the background: start the app in the foreground, without & or a daemon option';
}

/** Ends what runs, and starts the app; `from` is the size of its output before. */
async function startWith(target: Target, start: StartOfProcess, output: KeptOutput) {
  try {
    await end(target, target.env.RUNNER_DEPLOY_ID);
    const from = fstatSync(output.file).size;
    const path = join(target.paths.run, 'output.log');
    markOutput(appFolderOf(target.paths), [path]);
    target.log.line(`$ ${start.run} (output in ${path})`);
    return { ...(await spawnNoted(target, start, output.into)), from };
  } finally {
    closeSync(output.into);
  }
}

/** A process that runs for this long counts as started, in milliseconds. */
const SETTLE = 300;
/** The same for one that is still busy: on a loaded server, starting takes longer. */
const SETTLE_BUSY = 5_000;
/** Consecutive idle checks after which it counts as no longer busy. */
const QUIET = 3;
const POLL = 20;

/** Waits until the app has settled, or has ended. */
async function settled(pid: number | undefined, isOver: () => boolean): Promise<void> {
  const begun = performance.now();
  let quiet = 0;
  const hasSettled = () => {
    const took = performance.now() - begun;
    quiet = pid !== undefined && isBusy(pid) ? 0 : quiet + 1;
    return took >= SETTLE && (quiet >= QUIET || took >= SETTLE_BUSY);
  };
  while (!isOver() && !hasSettled()) await sleep(POLL);
}

export const processDriver = {
  async start(target: Target<StartOfProcess>): Promise<Started> {
    const { start, paths, log, redact, signal } = target;
    makeFolder(paths.run);
    if (!isOwnFolder(paths))
      throw new StepFailure('start', `start: ${paths.run} leads elsewhere: remove the link`);
    // On a full disk this fails while the previous release still runs.
    note(target, recordedProcess(paths.run) ?? NO_PROCESS);
    const output = keepOutput(join(paths.run, 'output.log'));
    const { child, pid, from } = await startWith(target, start, output);
    let words: string | undefined;
    const exited = async (code: number | null, by: NodeJS.Signals | null) => {
      await output.drained(hasLeft(target));
      words ??= wordsOf(target, code, by);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      words = `could not be started (${error.code})`;
    });
    child.once('exit', exited);
    await settled(pid, () => words !== undefined || signal.aborted || hasEnded(child));
    if (hasEnded(child)) await exited(child.exitCode, child.signalCode);
    const printed = () => redact(endOfFile(output.file, from, OUTPUT_MAX));
    const death = () =>
      words === undefined ? undefined : { words: `\`${start.run}\` ${words}`, output: printed() };
    const early = death();
    if (early) {
      output.close();
      throw loggedFailure(log, 'start', `start: ${early.words}`, early.output);
    }
    // The runner ends, the app keeps running.
    child.unref();
    const pids = () => processesOf(target);
    return { death, output: printed, strangerOn: (port) => strangerTo(pids(), port), pids };
  },
  stop: (target: Target) => endInstance(target, target.env.RUNNER_DEPLOY_ID),
  runs({ paths, release }: Target) {
    const pid = runningPid(paths.run);
    return (
      pid !== undefined && releaseIn(environmentOf(pid), appFolderOf(paths)) === basename(release)
    );
  },
  status: ({ paths }: Pick<Target, 'paths'>) =>
    runningPid(paths.run) === undefined ? 'stopped' : 'running',
} satisfies Driver<StartOfProcess>;
