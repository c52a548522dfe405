/** `start.type: command`: a command that makes an existing supervisor run the new release. */
import { type Driver, runFor, type Target, unobserved } from './driver.ts';

/** Time limit of `stop`, in milliseconds. */
const STOP_TIMEOUT = 60_000;

function shell(target: Target, command: string, timeout: number): Promise<void> {
  return runFor(target, { title: command, file: '/bin/sh', args: ['-c', command], timeout });
}

export const commandDriver: Driver = {
  async start(target) {
    const { start } = target;
    if (start.type === 'command') await shell(target, start.run, start.timeout);
    return unobserved;
  },
  async stop(target) {
    if (target.stop !== undefined) await shell(target, target.stop, STOP_TIMEOUT);
  },
  status: () => 'unknown',
};
