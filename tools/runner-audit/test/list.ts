/** What the short and the long tests of list share. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { line, record, rootWithLog } from './log.ts';

export const list = (root: string, ...args: string[]) =>
  run('runner-audit', ['list', ...args], { root });

/** Versions of the listed records. */
export async function versions(root: string, ...args: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await list(root, '--json', ...args);
  assert.equal([status, stderr], [0, '']);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((each) => JSON.parse(each).version);
}

export const at = (time: string, version: string, more: object = {}) =>
  line(record(version, { timestamp: time, ...more }));

/** A log with something for every filter. */
export function variedRoot(): string {
  return rootWithLog(
    [
      at('2026-05-04T09:00:00.000Z', 'v1'),
      at('2026-05-04T09:01:00.000Z', 'v2', { event_type: 'DeploySuccess', instance: 'eu-1' }),
      line({
        timestamp: '2026-05-05T10:00:00Z',
        event: 'DeployFailure',
        app: 'shop',
        version: 'v3',
      }),
      at('2026-05-06T00:00:00.000Z', 'v4', { project: 'shop-2', deploy_id: 'ffff0000' }),
      at('2026-05-06T23:59:59.500Z', 'v5', { instance: 'eu-1,us-1', deploy_id: 'ffff0000' }),
      at('2026-05-07T00:00:00.000Z', 'v6', { project: 'blog', error: '"shop" is a decoy' }),
    ].join(''),
  );
}
