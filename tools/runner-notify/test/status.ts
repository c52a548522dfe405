/** What the short and the long tests of status share. */
import { type Ended, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, chats } from './chats.ts';

export async function status(args: readonly string[] = []): Promise<Ended> {
  const before = tree(chats.root);
  const ended = await run('runner-notify', ['status', ...args], { root: chats.root });
  assert.equal(tree(chats.root), before);
  for (const secret of [BOT_TOKEN, BOT_TOKEN.split(':')[1] as string, chats.hook.token])
    assert.equal(findSecret(ended.stdout + ended.stderr, secret), []);
  return ended;
}
