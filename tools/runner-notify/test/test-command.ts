/** What the short and the long tests of test command share. */
import { type Ended, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, chats } from './chats.ts';

export async function testChannels(args: readonly string[] = []): Promise<Ended> {
  const ended = await run('runner-notify', ['test', ...args], { root: chats.root });
  for (const secret of [BOT_TOKEN, chats.hook.token])
    assert.equal(findSecret(ended.stdout + ended.stderr, secret), []);
  return ended;
}
