import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refusals as hookRefusals } from '@runner/testing/discord-refusals';
import { type Ended, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { refusals as botRefusals } from '@runner/testing/telegram';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID, type Chats, configOf, startChats } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
});
test.after.each(() => chats.close());

async function testChannels(args: readonly string[] = []): Promise<Ended> {
  const ended = await run('runner-notify', ['test', ...args], { root: chats.root });
  for (const secret of [BOT_TOKEN, chats.hook.token])
    assert.equal(findSecret(ended.stdout + ended.stderr, secret), []);
  return ended;
}

test('every active channel gets one test message, and what the service answered is shown', async () => {
  const ended = await testChannels();
  assert.equal([ended.status, ended.stderr], [0, '']);
  const { hook, bot } = chats;
  assert.match(
    ended.stdout,
    new RegExp(
      `^✔ telegram  delivered: message 1 in Deploys \\(supergroup ${CHAT_ID}\\)\n✔ discord   delivered: message ${hook.messages[0]?.id} in channel \\d+\n$`,
    ),
  );
  assert.is(bot.messages[0]?.text, '🔔 Test notification\nThe runner announces its deploys here.');
  assert.equal([bot.requests.length, hook.requests.length], [1, 1]);
});

test('--json is one object with a result per channel, and YAML says the same', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['telegram_thread_id: 7']));
  const ended = await testChannels(['--json']);
  assert.equal(JSON.parse(ended.stdout), {
    channels: [
      {
        channel: 'telegram',
        result: 'delivered',
        method: 'sendMessage',
        http_status: 200,
        answer: {
          message_id: '1',
          chat: { id: String(CHAT_ID), type: 'supergroup', title: 'Deploys' },
          message_thread_id: 7,
        },
      },
      {
        channel: 'discord',
        result: 'delivered',
        method: 'POST webhook',
        http_status: 200,
        answer: {
          message_id: chats.hook.messages[0]?.id,
          channel_id: JSON.parse(ended.stdout).channels[1].answer.channel_id,
        },
      },
    ],
  });
  assert.is(ended.stdout.trimEnd().split('\n').length, 1);
  const yaml = await testChannels(['-o', 'yaml']);
  assert.match(yaml.stdout, /^channels:\n {2}- channel: telegram\n {4}result: delivered\n/);
});

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

test('--channel tests that one alone', async () => {
  await testChannels(['--channel', 'telegram']);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [1, 0]);
});

test('a requested channel that is not active is reported, next to one that is', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 't'));
  const both = await testChannels(['--channel', 'both']);
  assert.is(both.status, 1);
  assert.match(both.stdout, /– discord {3}not active: nothing was sent\n$/);
  const alone = await testChannels(['--channel', 'discord', '--json']);
  assert.is(alone.status, 3);
  assert.is(JSON.parse(alone.stdout).error, 'not_configured');
  assert.match(
    alone.stderr,
    /^runner notify test: discord is not active: run `runner notify setup`/,
  );
});

test('without any channel the status is 3', async () => {
  chats.configure('');
  const ended = await testChannels();
  assert.equal(
    [ended.status, ended.stdout, ended.stderr],
    [
      3,
      '',
      `runner notify test: no channel is active: run \`runner notify setup\`, or see section notify of ${chats.root}/config.yml (not_configured)\n`,
    ],
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
