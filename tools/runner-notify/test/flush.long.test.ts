import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { refusals } from '@runner/testing/telegram';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event, waitOnly } from './chats.ts';
import { flush, only, queued } from './flush.ts';

const test = chatsSuite();

const deploy = (number: number) => event('DeployStarted', { deploy_id: `deploy0${number}` });

test('with nothing queued it says nothing, makes nothing and reads no configuration', async () => {
  chats.configure('notify: [');
  const before = tree(chats.root);
  const ended = await flush();
  assert.equal([ended.status, ended.stdout, ended.stderr], [0, '', '']);
  assert.equal((await flush('--json')).stdout, '');
  assert.equal(tree(chats.root), before);
});

test('without --now a pause after trouble is kept, and told', async () => {
  only('d');
  chats.hook.fail('drop', 3);
  await chats.send([deploy(1)], ['--wait', '0']);
  const ended = await flush();
  assert.is(ended.status, 0);
  if (ended.stdout === '') {
    assert.match(ended.stderr, /discord: 1 message stays queued: .+; the next try is in \d+ s\n$/);
  }
});

test('what a service asked to wait for is not sent before, not even with --now', async () => {
  only('t');
  chats.bot.fail(refusals.tooManyRequests(600));
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  const hasty = await flush('--now');
  assert.equal([hasty.status, hasty.stdout], [0, '']);
  assert.match(
    hasty.stderr,
    /^runner notify flush: telegram: 1 message stays queued: the service asks to wait \d+ s\n$/,
  );
  assert.is(chats.bot.requests.length, 1);
  waitOnly(chats.root, 'telegram', 0);
  assert.match((await flush()).stdout, /^delivered {2}telegram /);
});

test('flushes that overlap deliver each message once', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([1, 2, 3, 4].map(deploy), ['--wait', '0']);
  chats.hook.heal();
  const all = await Promise.all([1, 2, 3, 4].map(() => flush('--now')));
  assert.equal(
    all.map(({ status }) => status),
    [0, 0, 0, 0],
  );
  assert.equal([chats.hook.messages.length, queued()], [4, 0]);
});

test('what waits for a channel that is no longer active stays queued for a day, and stderr says so', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  chats.hook.heal();
  chats.configure('notify: {}\n');
  const ended = await flush('--now');
  assert.is(
    ended.stderr,
    'runner notify flush: discord: 1 message stays queued: the channel is not active\n',
  );
  only('d');
  assert.match((await flush('--now')).stdout, /^delivered /);
});

test('a state file that is damaged or gone stops nobody', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  chats.hook.heal();
  rmSync(join(chats.root, 'spool/notify/discord.json'));
  assert.match((await flush('--now')).stdout, /^delivered /);
});

test.run();
