/** What the short and the long tests of queue share. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { chats, event } from './chats.ts';

export const queue = (...args: string[]) =>
  run('runner-notify', ['queue', ...args], { root: chats.root });

export const flush = (...args: string[]) =>
  run('runner-notify', ['flush', ...args], { root: chats.root });

export async function messages(...args: string[]) {
  const ended = await queue(...args, '--json');
  assert.equal([ended.status, ended.stderr], [0, '']);
  return JSON.parse(ended.stdout).messages as Record<string, unknown>[];
}

/** One message that waits after a 502, and one that was refused. */
export async function waitingAndDead(): Promise<{ waiting: string; dead: string }> {
  chats.hook.fail('html');
  chats.hook.fail({ status: 403, body: { code: 50013, message: 'Missing Permissions' } });
  const other = event('DeployStarted', { deploy_id: 'ffffffff' });
  await chats.send([event('DeployStarted'), other], ['--wait', '0']);
  const [waiting, dead] = (await messages('list')).map(({ id }) => String(id));
  return { waiting: waiting ?? '', dead: dead ?? '' };
}
