/** What the short and the long tests of tail share. */
import { type RunningCommand, run, start } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { line, record } from './log.ts';

export const tail = (root: string, ...args: string[]) =>
  run('runner-audit', ['tail', ...args], { root });

export const lines = (...versions: string[]) =>
  versions.map((version) => line(record(version))).join('');

export const versionsIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((each) => JSON.parse(each).version);

/** Starts `tail -f --json`, and reads the versions that it prints. */
export function follow(root: string, ...args: string[]) {
  const running = start('runner-audit', ['tail', '-f', '--json', ...args], { root });
  const printed = running.stdout[Symbol.asyncIterator]();
  return {
    running,
    next: async () => JSON.parse((await printed.next()).value ?? '{}').version,
  };
}

/** Ends it as Ctrl-C does. */
export async function interrupted(running: RunningCommand) {
  running.kill('SIGINT');
  const { status, stderr } = await running.done;
  assert.is(status, 130);
  return stderr;
}
