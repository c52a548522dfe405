/** `start.type: command`: a command that makes an existing supervisor run the new release. */

import type { StartOf } from '@runner/common/deploy-file/start';
import { type Driver, runFor, type Target, unobserved } from './driver.ts';

function shell(target: Target, label: string, command: string, timeout: number): Promise<void> {
  const confinement = target.confine('app');
  const args = ['-c', command];
  return runFor(target, { label, title: command, file: '/bin/sh', args, timeout, confinement });
}

export const commandDriver: Driver<StartOf<'command' | 'process'>> = {
  async start(target) {
    await shell(target, 'start', target.start.run, target.start.timeout);
    return unobserved;
  },
  async stop(target) {
    const { start, stop } = target;
    if (stop !== undefined) await shell(target, 'stop', stop, start.stopTimeout);
  },
  status: () => 'unknown',
};
