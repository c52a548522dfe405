/**
 * `start.type: pm2`: deletes the process and starts it from the release's folder. `pm2 reload` would
 * keep running the old release, since pm2 resolves the link and remembers the folder. So there is a
 * short gap.
 */

import { closeSync, existsSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartOf } from '@runner/common/deploy-file/start';
import { orElse } from '@runner/common/foundation/attempt';
import { markOutput } from '../../run/output-marks.ts';
import { loggedFailure, runStep, StepFailure, tryStep } from '../../run/step.ts';
import { ANSWER_MAX, ask } from './ask.ts';
import {
  type Asked,
  appFolderOf,
  type Driver,
  only,
  ownName,
  stepFor,
  type Target,
} from './driver.ts';
import { ecosystemFor, namesOf } from './ecosystem.ts';
import { endOfFile } from './kept-output.ts';

type Pm2 = StartOf<'pm2'>;

/** A process that runs for this long counts as started, in milliseconds. */
const SETTLE = 500;
/** How much of each log an early death shows, in bytes. */
const OUTPUT_MAX = 32_768;
const ALIVE = new Set(['online', 'launching']);

function step(target: Target<Pm2>, args: readonly string[], timeout: number) {
  return stepFor(target, { file: 'pm2', args, timeout, confinement: target.confine('pm2') });
}

const notAnswering = () =>
  new StepFailure('start', 'start: pm2 does not answer', { blame: 'server' });

/** A process as pm2 lists it; the fields include its environment. */
interface Listed {
  readonly pid?: number;
  readonly pm_id: number;
  readonly name: string;
  readonly pm2_env: {
    readonly status: string;
    readonly restart_time: number;
    readonly pm_err_log_path?: string;
    readonly pm_out_log_path?: string;
    readonly RUNNER_APP?: string;
    readonly RUNNER_INSTANCE?: string;
    readonly RUNNER_SHARED?: string;
    readonly RUNNER_SLOT?: string;
  };
}

/**
 * The first command starts pm2's daemon, which keeps the environment for all apps: nothing of this
 * instance, but where the daemon's home is.
 */
function daemonEnvironment(env: Target['env'], { env: own }: Target['instance']): Target['env'] {
  const isShared = (name: string) =>
    name === 'PM2_HOME' ||
    (name !== 'HOME' && !/^(?:RUNNER_|OTEL_)/.test(name) && !Object.hasOwn(own, name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isShared(name)));
}

/** All processes that pm2 has; undefined if it does not answer. */
function listOf(target: Target): Listed[] | undefined {
  const { env, instance, release: cwd } = target;
  const confinement = target.confine('pm2');
  // Inside the sandbox the daemon would see only what this app does.
  if (confinement) ask('pm2', ['ping'], { env: target.outerEnv });
  const daemon = daemonEnvironment(env, instance);
  return listedIn(
    ask('pm2', ['jlist'], { cwd, env: daemon, most: ANSWER_MAX, confinement }).stdout,
  );
}

/** Whether pm2's daemon runs: by its pid, or by its socket if it is in another process namespace. */
function hasDaemon({ PM2_HOME = '' }: Record<string, string>): boolean {
  const pid = () => readFileSync(join(PM2_HOME, 'pm2.pid'), 'utf8').trim();
  const isOpen = () =>
    readFileSync('/proc/net/unix', 'utf8').includes(` ${join(PM2_HOME, 'rpc.sock')}\n`);
  // Where neither can be read, its client has to know.
  return existsSync(`/proc/${orElse(pid, '') || 'none'}`) || orElse(isOpen, true);
}

/** The processes in the output of `jlist`; undefined if pm2 did not answer. */
function listedIn(stdout: string): Listed[] | undefined {
  // The very first command also prints a greeting.
  const line = stdout.split('\n').find((each) => each.startsWith('['));
  return orElse(() => JSON.parse(line ?? '') as Listed[], undefined);
}

/** Whether a process is of the instance, of its slot, and of this root, which may have been moved since, or have a link. */
function isOwn({ pm2_env: own }: Listed, { app, instance, slot, paths }: Asked): boolean {
  const isNamed = own.RUNNER_APP === app && own.RUNNER_INSTANCE === instance.name;
  if (!isNamed || own.RUNNER_SLOT !== slot) return false;
  const placeOf = (shared = '') => orElse(() => realpathSync(dirname(shared)), undefined);
  return (placeOf(own.RUNNER_SHARED) ?? placeOf(paths.shared)) === placeOf(paths.shared);
}

/** The processes of the instance; undefined if pm2 does not answer. */
function processesOf(target: Target): Listed[] | undefined {
  return listOf(target)?.filter((each) => isOwn(each, target));
}

/**
 * Starting a name that pm2 has would restart that process, whatever app it belongs to. Throws a
 * StepFailure before anything is touched.
 */
function refuseTaken(target: Target<Pm2>): void {
  const { start } = target;
  const all = listOf(target);
  if (all === undefined) throw notAnswering();
  const names = 'config' in start ? namesOf(target, start.config) : [ownName(target)];
  const taken = all.find((each) => names.includes(each.name) && !isOwn(each, target));
  if (taken === undefined) return;
  const { RUNNER_APP: app, RUNNER_INSTANCE: instance } = taken.pm2_env;
  const whose = app ? `for ${instance} of ${app}` : 'that runner did not start';
  throw new StepFailure(
    'start',
    `start: the name '${taken.name}' is taken: pm2 runs a process of that name ${whose}; give this one another name`,
  );
}

/** Deletes what runs of the instance, if anything does. Returns the sizes of its logs. */
async function remove(target: Target<Pm2>): Promise<Sizes> {
  const { log, signal } = target;
  const running = processesOf(target);
  if (running === undefined) throw notAnswering();
  const sizes = logSizes(running);
  if (running.length > 0) {
    // By number: the previous file may have used another name.
    const ids = running.map(({ pm_id: id }) => String(id));
    await tryStep(log, signal, step(target, ['delete', ...ids], target.start.stopTimeout));
  }
  return sizes;
}

type Sizes = ReadonlyMap<string, number>;

function logsOf(listed: Listed): string[] {
  const { pm_err_log_path: errors, pm_out_log_path: output } = listed.pm2_env;
  return [errors, output].filter((path) => path !== undefined);
}

/** Sizes of the logs: pm2 appends the output of the next release to the same file. */
function logSizes(processes: readonly Listed[]): Sizes {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return new Map(processes.flatMap(logsOf).map((path) => [path, sizeOf(path)]));
}

/** The end of the log, starting no earlier than the offset `from`. */
function tail(path: string, from: number): string {
  const read = () => {
    const file = openSync(path, 'r');
    const text = endOfFile(file, from, OUTPUT_MAX);
    closeSync(file);
    return text;
  };
  // Rotated or missing: the status must suffice.
  return orElse(read, '');
}

function deathOf(target: Target, before: Sizes, listed = processesOf(target)) {
  const dead = listed?.find(({ pm2_env: own }) => own.restart_time > 0 || !ALIVE.has(own.status));
  if (dead === undefined) return undefined;
  return { words: `pm2's process ${dead.name} crashed`, output: outputOf(target, before, [dead]) };
}

function outputOf(target: Target, before: Sizes, processes: readonly Listed[]): string {
  const logs = processes.flatMap(logsOf).map((path) => tail(path, before.get(path) ?? 0));
  return target.redact(logs.join(''));
}

export const pm2Driver: Driver<Pm2> = {
  prepare: refuseTaken,
  async start(target) {
    const { start, release, log, signal } = target;
    refuseTaken(target);
    const sizes = await remove(target);
    const what =
      'config' in start
        ? [ecosystemFor(target, start.config)]
        : [start.run, '--name', ownName(target), '--cwd', release];
    await runStep(log, signal, step(target, ['start', ...what, '--update-env'], start.timeout));
    // `pm2 start` succeeds even if the program ends at once.
    await sleep(SETTLE);
    const listed = processesOf(target);
    markOutput(appFolderOf(target.paths), listed?.flatMap(logsOf));
    const early = deathOf(target, sizes, listed);
    if (early) throw loggedFailure(log, 'start', `start: ${early.words}`, early.output);
    return {
      death: () => deathOf(target, sizes),
      output: () => outputOf(target, sizes, processesOf(target) ?? []),
    };
  },
  async stop(target) {
    await remove(target);
  },
  status(target) {
    const env = only(target.env, ['PATH', 'PM2_HOME']);
    // The client would start a daemon.
    if (!hasDaemon(env)) return 'stopped';
    return {
      program: 'pm2',
      args: ['jlist'],
      env,
      confinement: target.confine('pm2'),
      read(stdout) {
        const own = listedIn(stdout)?.filter((each) => isOwn(each, target));
        if (own === undefined) return { status: 'unknown' };
        const isOnline = own.some(({ pm2_env: each }) => each.status === 'online');
        const count = own.reduce((sum, each) => sum + each.pm2_env.restart_time, 0);
        return {
          status: isOnline ? 'running' : 'stopped',
          restarts: { count, oom: false },
          pids: () => own.flatMap(({ pid }) => pid || []),
        };
      },
    };
  },
};

/** The files that pm2 writes the output of an instance to; of a stopped one there are none. */
export function pm2Logs(target: Target): string[] {
  return [...new Set((processesOf(target) ?? []).flatMap(logsOf))];
}
