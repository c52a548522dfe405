/** `start.type: command`: a command that makes an existing supervisor run the new release. */

import type { StartOf } from '@runner/common/deploy-file/start';
import { mayBeLeft } from '../../sandbox/effect.ts';
import { otherAppOn, processesOf, stillRuns, versionBeforeOn } from '../stranger.ts';
import { type Driver, runFor, type Target, unobserved } from './driver.ts';

/** Returns its output, whether it ran in a sandbox, and what that may have done to it, in words. */
async function shell(
  target: Target,
  label: string,
  command: string,
  timeout: number,
): Promise<{ output: string; remark: string | undefined; isConfined: boolean }> {
  const confinement = target.confine('app');
  const args = ['-c', command];
  const step = { label, title: command, file: '/bin/sh', args, timeout, confinement };
  const output = await runFor(target, step);
  return { output, remark: confinement?.explain(output), isConfined: confinement !== undefined };
}

export const commandDriver: Driver<StartOf<'command' | 'process'>> = {
  async start(target) {
    const { run, timeout } = target.start;
    const before = processesOf(target);
    const { output, remark, isConfined } = await shell(target, 'start', run, timeout);
    // From a sandbox it reaches no process by its number, whatever it prints.
    if (!isConfined || target.slot !== undefined) return { ...unobserved, remark };
    const stranger = (port?: number) => versionBeforeOn(target, port, before);
    const strangerOn = (port: number) => stranger(port) ?? otherAppOn(target, port);
    // A supervisor goes on, whatever else its command complains of.
    const left = mayBeLeft(output) ? stillRuns(target, before) : undefined;
    return { ...unobserved, remark, left, stranger, strangerOn };
  },
  async stop(target) {
    const { start, stop } = target;
    if (stop !== undefined) await shell(target, 'stop', stop, start.stopTimeout);
  },
  status: () => 'unknown',
};
