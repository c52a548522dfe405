/** `start.type: command`: a command that makes an existing supervisor run the new release. */

import type { StartOf } from '@runner/common/deploy-file/start';
import { type Driver, runFor, type Target, unobserved } from './driver.ts';

/** Returns what its sandbox may have done to it, in words. */
async function shell(
  target: Target,
  label: string,
  command: string,
  timeout: number,
): Promise<string | undefined> {
  const confinement = target.confine('app');
  const args = ['-c', command];
  const step = { label, title: command, file: '/bin/sh', args, timeout, confinement };
  return confinement?.explain(await runFor(target, step));
}

export const commandDriver: Driver<StartOf<'command' | 'process'>> = {
  async start(target) {
    const { run, timeout } = target.start;
    return { ...unobserved, remark: await shell(target, 'start', run, timeout) };
  },
  async stop(target) {
    const { start, stop } = target;
    if (stop !== undefined) await shell(target, 'stop', stop, start.stopTimeout);
  },
  status: () => 'unknown',
};
