/**
 * `start.type: pm2`: the process is deleted and started anew from the release's folder. `pm2 reload`
 * would keep running the old release: pm2 resolves the link and remembers the folder. So it is a
 * restart, not without a gap.
 */
import { closeSync, openSync, statSync } from 'node:fs';
import type { Start } from '@runner/common/deploy-file/read';
import { runStep, toldElsewhere, tryStep } from '../../run/step.ts';
import { ask } from './ask.ts';
import type { Driver, Target } from './driver.ts';
import { endOfFile } from './end-of-file.ts';

type Pm2 = Extract<Start, { type: 'pm2' }>;

const DELETE_TIMEOUT = 60_000;
/** A process that has not crashed after this many milliseconds counts as started. */
const SETTLE = 500;
/** What an early death shows of each log, in bytes. */
const OUTPUT_MAX = 32_768;
/** The list holds the whole environment of every process, in bytes. */
const LIST_MAX = 67_108_864;
const ALIVE = new Set(['online', 'launching']);

/** pm2's name of an instance that is started by `run`. */
export function nameOf(app: string, instance: string): string {
  return `${app}-${instance}`;
}

function step(target: Target, args: readonly string[], timeout: number) {
  const { release: cwd, env } = target;
  return {
    stage: 'start' as const,
    title: ['pm2', ...args].join(' '),
    file: 'pm2',
    args,
    cwd,
    env,
    timeout,
  };
}

/** What pm2 is told to delete: the processes of the file, or the one process. */
function subject(target: Target, start: Pm2): string {
  return 'config' in start ? start.config : nameOf(target.app, target.instance.name);
}

/** A process as pm2 lists it; the environment that it was started with lies among its fields. */
interface Listed {
  readonly pm_id: number;
  readonly name: string;
  readonly pm2_env: {
    readonly status: string;
    readonly restart_time: number;
    readonly pm_err_log_path?: string;
    readonly pm_out_log_path?: string;
    readonly RUNNER_APP?: string;
    readonly RUNNER_INSTANCE?: string;
  };
}

/** The processes of the instance; undefined when pm2 cannot be asked. */
function processesOf({ app, instance, env, release }: Target): Listed[] | undefined {
  const { stdout } = ask('pm2', ['jlist'], { cwd: release, env, most: LIST_MAX });
  // The first command of all also greets.
  const line = stdout.split('\n').find((each) => each.startsWith('['));
  try {
    const all = JSON.parse(line ?? '') as Listed[];
    return all.filter(
      ({ name, pm2_env: own }) =>
        name === nameOf(app, instance.name) ||
        (own.RUNNER_APP === app && own.RUNNER_INSTANCE === instance.name),
    );
  } catch {
    return undefined;
  }
}

/** Deletes what runs of the instance; that there is nothing to delete is fine. */
async function remove(target: Target, start: Pm2): Promise<Sizes> {
  const { log, signal } = target;
  const running = processesOf(target);
  const sizes = logSizes(running ?? []);
  const ids = (running ?? []).map(({ pm_id: id }) => String(id));
  // By number too: what the file before started may have another name in this one.
  const all = ids.length > 0 ? ids : running === undefined ? [subject(target, start)] : [];
  if (all.length > 0) await tryStep(log, signal, step(target, ['delete', ...all], DELETE_TIMEOUT));
  return sizes;
}

type Sizes = ReadonlyMap<string, number>;

function logsOf(listed: Listed): string[] {
  const { pm_err_log_path: errors, pm_out_log_path: output } = listed.pm2_env;
  return [errors, output].filter((path) => path !== undefined);
}

/** How long the logs are now: pm2 goes on with the same file for the next release. */
function logSizes(processes: readonly Listed[]): Sizes {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return new Map(processes.flatMap(logsOf).map((path) => [path, sizeOf(path)]));
}

/** The end of what a log has got since it had the size `from`. */
function tail(path: string, from: number): string {
  try {
    const file = openSync(path, 'r');
    const text = endOfFile(file, from, OUTPUT_MAX);
    closeSync(file);
    return text;
  } catch {
    return ''; // Rotated or not there: the status alone is told.
  }
}

function deathOf(target: Target, before: Sizes): { words: string; output: string } | undefined {
  const dead = processesOf(target)?.find(
    ({ pm2_env: own }) => own.restart_time > 0 || !ALIVE.has(own.status),
  );
  if (dead === undefined) return undefined;
  const output = logsOf(dead).map((path) => tail(path, before.get(path) ?? 0));
  return { words: `pm2's process ${dead.name} crashed`, output: target.redact(output.join('')) };
}

export const pm2Driver: Driver = {
  async start(target) {
    const { start, app, instance, release, log, signal } = target;
    if (start.type !== 'pm2') return { death: () => undefined };
    const sizes = await remove(target, start);
    const args =
      'config' in start
        ? ['start', start.config, '--update-env']
        : [
            'start',
            start.run,
            '--name',
            nameOf(app, instance.name),
            '--cwd',
            release,
            '--update-env',
          ];
    await runStep(log, signal, step(target, args, start.timeout));
    // `pm2 start` is content when the program could be started, whatever becomes of it.
    await new Promise((resolve) => setTimeout(resolve, SETTLE));
    const death = () => deathOf(target, sizes);
    const early = death();
    if (early) throw toldElsewhere(log, 'start', `start: ${early.words}`, early.output);
    return { death };
  },
  async stop(target) {
    if (target.start.type === 'pm2') await remove(target, target.start);
  },
  status(target) {
    if (target.start.type !== 'pm2') return 'unknown';
    const all = processesOf(target);
    if (all === undefined) return 'unknown';
    return all.some(({ pm2_env: own }) => own.status === 'online') ? 'running' : 'stopped';
  },
};
