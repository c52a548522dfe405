import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { CTRL_C, type Session, startOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID, type Chats, startChats } from './chats.ts';

let chats: Chats;
let root: string;
test.before.each(async () => {
  chats = await startChats();
  root = temporaryFolder('setup');
});
test.after.each(() => chats.close());

function setup(args: readonly string[] = []): Session {
  const env = { RUNNER_TELEGRAM_API_URL: chats.bot.url };
  return startOnTerminal('runner-notify', ['setup', ...args], { root, columns: 240, env });
}

/** Without the comment that names the schema. */
const config = () =>
  readFileSync(join(root, 'config.yml'), 'utf8').replace(/^# yaml-language-server: .*\n\n/, '');

test('a webhook is asked for without showing it, looked at, tried and saved', async () => {
  const { hook } = chats;
  const session = setup(['--channel', 'discord']);
  await session.answer('Webhook address (not shown):', `${hook.webhook}/slack?wait=false`);
  await session.expect('✔ The webhook is Deploys, in channel ');
  await session.expect('✔ The test message was delivered');
  await session.expect('saved discord in');
  assert.is((await session.done).status, 0);
  assert.is(config(), `notify:\n  channel: discord\n  discord_webhook: ${hook.webhook}\n`);
  assert.is(hook.messages[0]?.embeds.length, 1);
  assert.ok(hook.messages[0]?.waited);
  assert.equal(findSecret(session.raw(), hook.token), []);
});

test('an address that is no webhook, or of one that was deleted, is asked for again', async () => {
  const { hook } = chats;
  const session = setup(['--channel', 'discord']);
  await session.answer('Webhook address', 'http://discord.com/api/webhooks/1/x');
  await session.answer('the webhook address must be https', 'https://discord.com/channels/1/2');
  await session.expect('that is not a webhook address');
  hook.remove();
  session.enter(hook.webhook);
  await session.expect(
    'discord: Unknown Webhook (GET webhook, 10015); check that the webhook was not deleted',
  );
  await session.expect('no working webhook address in 3 attempts, nothing was changed');
  assert.is((await session.done).status, 1);
  assert.equal(tree(root), {});
  assert.equal(findSecret(session.raw(), hook.token), []);
});

test('a test embed that is refused can be sent to another address', async () => {
  const { hook } = chats;
  hook.fail('html', 1, 'POST');
  const session = setup(['--channel', 'discord']);
  await session.answer('Webhook address', hook.webhook);
  await session.expect(
    'The test message was not delivered: discord: the answer has HTTP status 502',
  );
  await session.answer('What now? [1-4]:', '2');
  await session.answer('Webhook address', hook.webhook);
  await session.expect('saved');
  assert.is(hook.messages.length, 1);
});

test('without --channel it is asked what to set up, and both are saved at once', async () => {
  const { bot, hook } = chats;
  const session = setup();
  await session.expect('Where to announce deploys? [1-7]:');
  // The words are accepted like their number.
  session.enter('telegram and discord');
  await session.answer('Bot token', BOT_TOKEN);
  await session.expect('m: enter the chat id');
  session.type('m');
  await session.answer('Chat id', String(CHAT_ID));
  await session.answer('The group has topics', '1');
  await session.expect('The test message was delivered');
  assert.equal(tree(root), {});
  await session.answer('Webhook address', hook.webhook);
  await session.expect(`saved telegram and discord in ${root}/config.yml; channel: both`);
  assert.match(config(), /^notify:\n {2}channel: both\n/);
  assert.equal([bot.messages.length, hook.messages.length], [1, 1]);
});

test('Ctrl-C in the second half of both writes nothing of the first', async () => {
  const session = setup(['--channel', 'both', '--chat-id', String(CHAT_ID), '--thread-id', '7']);
  await session.answer('Bot token', BOT_TOKEN);
  await session.expect('Webhook address');
  session.type(CTRL_C);
  assert.is((await session.done).status, 130);
  assert.equal(tree(root), {});
});

test('the answer of --json is alone on standard output; what is asked is on standard error', async () => {
  const args = ['setup', '--channel', 'discord', '--json'];
  const session = startOnTerminal('runner-notify', args, { root, columns: 240 });
  await session.answer('Webhook address', chats.hook.webhook);
  await session.expect('"channel":"discord"');
  assert.is((await session.done).status, 0);
  const json = session
    .text()
    .split(/\r?\n/)
    .find((line) => line.startsWith('{')) as string;
  const { id, name } = JSON.parse(json).channels[0].webhook;
  assert.equal([name, chats.hook.webhook.includes(id)], ['Deploys', true]);
});

test.run();
