/** `start.type: command`: a command that makes an existing supervisor run the new release. */

import type { StartOf } from '@runner/common/deploy-file/start';
import { mayBeLeft } from '../../sandbox/effect.ts';
import { otherAppOn, processesOf, stillRuns, versionBeforeOn } from '../stranger.ts';
import { type Driver, runFor, unobserved } from './driver.ts';

const shell = (label: string, command: string, timeout: number) => ({
  label,
  title: command,
  file: '/bin/sh',
  args: ['-c', command],
  timeout,
});

export const commandDriver: Driver<StartOf<'command' | 'process'>> = {
  async start(target) {
    const { run, timeout } = target.start;
    const before = processesOf(target);
    const confinement = target.confine('app');
    const output = await runFor(target, { ...shell('start', run, timeout), confinement });
    const remark = confinement?.explain(output);
    // From a sandbox it reaches no process by its number, whatever it prints.
    if (!confinement || target.slot !== undefined) return { ...unobserved, remark };
    const stranger = (port?: number) => versionBeforeOn(target, port, before);
    const strangerOn = (port: number) => stranger(port) ?? otherAppOn(target, port);
    // A supervisor goes on, whatever else its command complains of.
    const left = mayBeLeft(output) ? stillRuns(target, before) : undefined;
    return { ...unobserved, remark, left, stranger, strangerOn };
  },
  async stop(target) {
    const { start, stop } = target;
    if (stop === undefined) return;
    const confinement = target.confine('app');
    await runFor(target, { ...shell('stop', stop, start.stopTimeout), confinement });
  },
  status: () => 'unknown',
};
