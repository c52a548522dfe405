/**
 * `start.type: pm2`: the process is deleted and started anew from the release's folder. `pm2 reload`
 * would keep running the old release: pm2 resolves the link and remembers the folder. So it is a
 * restart, not without a gap.
 */
import { spawnSync } from 'node:child_process';
import type { Start } from '@runner/common/deploy-file';
import { runStep, tryStep } from '../step.ts';
import type { Driver, Target } from './driver.ts';

type Pm2 = Extract<Start, { type: 'pm2' }>;

const DELETE_TIMEOUT = 60_000;

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

export const pm2Driver: Driver = {
  async start(target) {
    const { start, app, instance, release, log, signal } = target;
    if (start.type !== 'pm2') return { death: () => undefined };
    // That there is nothing to delete is fine.
    await tryStep(log, signal, step(target, ['delete', subject(target, start)], DELETE_TIMEOUT));
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
    return { death: () => undefined };
  },
  async stop(target) {
    const { start, log, signal } = target;
    if (start.type !== 'pm2') return;
    await tryStep(log, signal, step(target, ['delete', subject(target, start)], DELETE_TIMEOUT));
  },
  status(target) {
    const { start, app, instance, env } = target;
    if (start.type !== 'pm2' || 'config' in start) return 'unknown';
    const asked = spawnSync('pm2', ['jlist'], { env, encoding: 'utf8' });
    try {
      const all = JSON.parse(asked.stdout) as { name: string; pm2_env: { status: string } }[];
      const mine = all.find((each) => each.name === nameOf(app, instance.name));
      return mine?.pm2_env.status === 'online' ? 'running' : 'stopped';
    } catch {
      return 'unknown';
    }
  },
};
