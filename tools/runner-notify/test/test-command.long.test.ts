import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refusals as hookRefusals } from '@runner/testing/discord-refusals';
import { refusals as botRefusals } from '@runner/testing/telegram';
import * as assert from 'uvu/assert';
import { CHAT_ID, chats, chatsSuite, configOf } from './chats.ts';
import { testChannels } from './test-command.ts';

const test = chatsSuite();

test('a service with an incomplete answer is reported with what it says', async () => {
  chats.bot.fail({ status: 200, body: { ok: true, result: { message_id: 5 } } }, 1, 'sendMessage');
  chats.hook.fail({ status: 204, body: '' });
  const ended = await testChannels();
  assert.is(
    ended.stdout,
    "✔ telegram  delivered: message 5 in the chat\n✔ discord   delivered: message in the webhook's channel\n",
  );
});

const refuse = (code: number, description: string) => ({
  status: code,
  body: { ok: false, error_code: code, description },
});

for (const [what, prepare, channel, result, description, hint] of [
  [
    'an unknown chat',
    () => chats.bot.chats.splice(0),
    'telegram',
    'rejected',
    'Bad Request: chat not found',
    'negative for groups and channels',
  ],
  [
    'a bot that was removed',
    () => chats.bot.fail(refuse(403, 'Forbidden: bot was kicked from the group chat')),
    'telegram',
    'rejected',
    'Forbidden: bot was kicked from the group chat',
    'privacy off',
  ],
  [
    'a channel without rights',
    () => chats.bot.fail(refuse(400, 'Bad Request: need administrator rights in the channel chat')),
    'telegram',
    'rejected',
    'need administrator rights',
    'administrator with the post-messages permission',
  ],
  [
    'a revoked token',
    () => chats.bot.revoke(),
    'telegram',
    'rejected',
    'Unauthorized',
    'check the bot token',
  ],
  [
    'haste',
    () => chats.bot.fail(botRefusals.tooManyRequests(7)),
    'telegram',
    'failed',
    'retry after 7',
    '',
  ],
  [
    'a deleted webhook',
    () => chats.hook.remove(),
    'discord',
    'rejected',
    'Unknown Webhook',
    'the webhook was not deleted',
  ],
  [
    'an invalid webhook token',
    () => chats.hook.fail(hookRefusals.invalidToken),
    'discord',
    'rejected',
    'Invalid Webhook Token',
    'its token is not valid',
  ],
  [
    'a dropped connection',
    () => chats.hook.fail('drop'),
    'discord',
    'failed',
    'connection',
    "check the server's network",
  ],
  [
    'a page of a proxy',
    () => chats.hook.fail('html'),
    'discord',
    'failed',
    'HTTP status 502',
    "check the server's network",
  ],
] as const) {
  test(`${what} is ${result}, with a hint, status 1, and the other channel is still tested`, async () => {
    prepare();
    const ended = await testChannels(['--json']);
    assert.is(ended.status, 1);
    const results = JSON.parse(ended.stdout).channels as Record<string, string>[];
    const wrong = results.find((each) => each.channel === channel);
    const other = results.find((each) => each.channel !== channel);
    assert.is(other?.result, 'delivered');
    assert.is(wrong?.result, result);
    assert.ok(wrong?.description?.includes(description), wrong?.description);
    assert.ok((wrong?.hint ?? '').includes(hint), wrong?.hint);
    assert.is(typeof wrong?.retryable, 'boolean');
  });
}

test('for people a refusal stands above its hint', async () => {
  chats.hook.remove();
  const ended = await testChannels(['--channel', 'discord']);
  assert.is(
    ended.stdout,
    '✘ discord   rejected: Unknown Webhook (POST webhook, 10015)\n  → check that the webhook was not deleted, and its address\n',
  );
});

test('a requested channel that is not active is reported, next to one that is', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 't'));
  const both = await testChannels(['--channel', 'both']);
  assert.is(both.status, 1);
  assert.match(both.stdout, /– discord {3}not active: nothing was sent\n$/);
  const alone = await testChannels(['--channel', 'discord', '--json']);
  assert.is(alone.status, 1);
  assert.is(JSON.parse(alone.stdout).error, 'not_configured');
  assert.match(
    alone.stderr,
    /^runner notify test: discord is not active: run `runner notify setup`/,
  );
});

test('a group that has become a supergroup is followed, and its id is saved', async () => {
  chats.bot.chats.splice(
    0,
    1,
    { id: CHAT_ID, type: 'group', title: 'Old', migratedTo: -100999 },
    { id: -100999, type: 'supergroup', title: 'New' },
  );
  const ended = await testChannels(['--channel', 'telegram']);
  assert.is(ended.status, 0);
  assert.match(
    ended.stdout,
    /in New \(supergroup -100999\)\n {2}→ telegram_chat_id is -100999 now, saved\n$/,
  );
  assert.match(
    readFileSync(join(chats.root, 'config.yml'), 'utf8'),
    /telegram_chat_id: "?-100999"?\n/,
  );
});

test('a message that arrives starts a channel again that was stopped', async () => {
  const folder = join(chats.root, 'spool', 'notify');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'discord.json');
  writeFileSync(file, JSON.stringify({ version: 1, stopped: { at: 'x', problem: {} } }));
  await testChannels(['--channel', 'discord']);
  assert.is(JSON.parse(readFileSync(file, 'utf8')).stopped, null);
  assert.not.ok(existsSync(join(folder, 'telegram.json')));
});

test.run();
