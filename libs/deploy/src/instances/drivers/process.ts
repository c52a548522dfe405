/**
 * `start.type: process`: a detached process group with a pidfile. Nothing restarts it after a crash:
 * for containers, the demo and tests. Otherwise use a supervisor.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import {
  bootId,
  isBusy,
  type PidFile,
  pidFileIn,
  runningPid,
  startTimeOf,
} from '@runner/common/files/process';
import { makeFolder, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { systemFailure } from '@runner/common/foundation/failure';
import { endGroup } from '../../run/child.ts';
import { loggedFailure } from '../../run/step.ts';
import { type Driver, type Target, unobserved } from './driver.ts';
import { endOfFile } from './end-of-file.ts';

/** A process that runs for this long counts as started, in milliseconds. */
const SETTLE = 300;
/** The same for one that is still busy: on a loaded server, starting takes longer. */
const SETTLE_BUSY = 5_000;
/** Consecutive idle checks after which it counts as no longer busy. */
const QUIET = 3;
/** Between SIGTERM and SIGKILL, in milliseconds. */
const GRACE = 10_000;
const POLL = 20;
/** How much of the app's output an early death shows, in bytes. */
const OUTPUT_MAX = 65_536;

const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Waits until a process has ended, up to `patience` milliseconds. */
async function ended(pid: number, patience: number): Promise<void> {
  const startTime = startTimeOf(pid);
  const until = performance.now() + patience;
  while (startTime !== undefined && startTimeOf(pid) === startTime && performance.now() < until)
    await sleep(POLL);
}

async function stop({ paths }: Pick<Target, 'paths'>): Promise<void> {
  const pid = runningPid(paths.run);
  if (pid !== undefined) {
    endGroup(pid, 'SIGTERM');
    await ended(pid, GRACE);
    // The rest of the group, whether or not its leader has ended.
    endGroup(pid, 'SIGKILL');
    await ended(pid, GRACE);
  }
  removeIfThere(pidFileIn(paths.run));
}

export const processDriver = {
  async start(target: Target) {
    const { start, release, paths, env, log, redact, signal } = target;
    if (start.type !== 'process') return unobserved;
    await stop(target);
    makeFolder(paths.run);
    const outputPath = join(paths.run, 'output.log');
    const output = openOutput(outputPath);
    const from = fstatSync(output).size;
    log.line(`$ ${start.run} (output in ${outputPath})`);
    const child = spawn('/bin/sh', ['-c', start.run], {
      cwd: release,
      env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    let words: string | undefined;
    child.once('error', (error: NodeJS.ErrnoException) => {
      words = `could not be started (${error.code})`;
    });
    child.once('exit', (code, by) => {
      words ??= by ? `was ended by ${by}` : `ended with status ${code}`;
    });
    const printed = () => redact(endOfFile(output, from, OUTPUT_MAX));
    if (child.pid !== undefined) {
      const record: PidFile = {
        pid: child.pid,
        start_time: startTimeOf(child.pid) ?? '',
        boot_id: bootId(),
      };
      writeWhole(pidFileIn(paths.run), `${JSON.stringify(record)}\n`);
    }
    const begun = performance.now();
    let quiet = 0;
    const hasSettled = () => {
      const took = performance.now() - begun;
      quiet = child.pid !== undefined && isBusy(child.pid) ? 0 : quiet + 1;
      return took >= SETTLE && (quiet >= QUIET || took >= SETTLE_BUSY);
    };
    while (words === undefined && !hasSettled() && !signal.aborted) await sleep(POLL);
    const death = () =>
      words === undefined ? undefined : { words: `\`${start.run}\` ${words}`, output: printed() };
    const early = death();
    if (early) {
      closeSync(output);
      throw loggedFailure(log, 'start', `start: ${early.words}`, early.output);
    }
    // The runner ends, the app keeps running.
    child.unref();
    return { death };
  },
  stop,
  status: ({ paths }: Pick<Target, 'paths'>) =>
    runningPid(paths.run) === undefined ? 'stopped' : 'running',
} satisfies Driver;

function openOutput(path: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  try {
    return openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o640);
  } catch (error) {
    throw systemFailure(error, `write ${path}`);
  }
}
