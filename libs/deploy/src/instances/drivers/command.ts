/** `start.type: command`: a command that makes an existing supervisor run the new release. */

import type { StartOf } from '@runner/common/deploy-file/start';
import { couldNotEnd } from '../../sandbox/effect.ts';
import { otherAppOn, versionBeforeOn } from '../stranger.ts';
import { type Driver, runFor, type Target, unobserved } from './driver.ts';

/** Returns what its sandbox may have done to it, in words, and whether it has kept it from ending a process. */
async function shell(
  target: Target,
  label: string,
  command: string,
  timeout: number,
): Promise<{ remark: string | undefined; hasLeft: boolean }> {
  const confinement = target.confine('app');
  const args = ['-c', command];
  const step = { label, title: command, file: '/bin/sh', args, timeout, confinement };
  const output = await runFor(target, step);
  const remark = confinement?.explain(output);
  return { remark, hasLeft: remark !== undefined && couldNotEnd(output) };
}

export const commandDriver: Driver<StartOf<'command' | 'process'>> = {
  async start(target) {
    const { run, timeout } = target.start;
    const { remark, hasLeft } = await shell(target, 'start', run, timeout);
    const strangerOn = (port: number) => versionBeforeOn(target, port) ?? otherAppOn(target, port);
    return { ...unobserved, remark, ...(hasLeft && { strangerOn }) };
  },
  async stop(target) {
    const { start, stop } = target;
    if (stop !== undefined) await shell(target, 'stop', stop, start.stopTimeout);
  },
  status: () => 'unknown',
};
