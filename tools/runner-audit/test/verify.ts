/** What the short and the long tests of verify share. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { line, record } from './log.ts';

export const verify = (root: string, ...args: string[]) =>
  run('runner-audit', ['verify', ...args], { root });

/** The problems of a log, as `line: message`. */
export async function problemsOf(root: string): Promise<string[]> {
  const { status, stdout, stderr } = await verify(root, '--json');
  const { ok, problem_count, problems } = JSON.parse(stdout);
  assert.is(stderr, '');
  assert.equal([ok, status, problem_count], [problems.length === 0, ok ? 0 : 1, problems.length]);
  return problems.map(
    ({ file, line: number, message }: { file: string; line: number; message: string }) =>
      `${file.replace('deploy-events.jsonl', 'log')}:${number}: ${message}`,
  );
}

export let seconds = 0;

/** An event a second later than the one before. */
export function event(
  event_type: string,
  deploy_id: string | undefined,
  more: object = {},
): string {
  seconds += 1;
  const timestamp = new Date(1_777_000_000_000 + seconds * 1000).toISOString();
  return line(record('v1', { timestamp, event_type, deploy_id, ...more }));
}

export const deploy = (id: string, end = 'DeploySuccess') =>
  event('DeployStarted', id) + event(end, id);
