import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event, registerApp } from './chats.ts';
import { TOLD } from './send-choice.ts';

const test = chatsSuite();

test('an app that is not registered is announced everywhere', async () => {
  registerApp(chats.root, 'shop', 'keep: 3\n', 'prod-1');
  await chats.send([event('DeployStarted', { project: 'other' })]);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [1, 1]);
});

test('another instance of the app says it, when the record names one without a release', async () => {
  registerApp(chats.root, 'shop', 'notify: { channel: discord }\n', 'prod-1');
  await chats.send([event('DeployStarted', { instance: 'default' })]);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [0, 1]);
});

test('a state file that cannot be read is reported, and every active channel announces', async () => {
  registerApp(chats.root, 'shop');
  writeFileSync(join(chats.root, 'state', 'shop.json'), '{');
  const ended = await chats.send([event('DeployStarted')]);
  assert.is(ended.status, 0);
  assert.is(
    ended.stderr,
    `runner notify send: shop: the state file ${join(chats.root, 'state/shop.json')} is not JSON; ${TOLD}\n`,
  );
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [1, 1]);
});

test.run();
