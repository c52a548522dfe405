import { findSecret } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import { CTRL_D } from '@runner/testing/terminal';
import * as assert from 'uvu/assert';
import { BOT_TOKEN } from './chats.ts';
import {
  begun,
  bot,
  config,
  GROUP,
  messageIn,
  root,
  setup,
  setupTelegramTerminalSuite,
  startBot,
} from './setup-telegram-terminal.ts';

const test = setupTelegramTerminalSuite();

test('a whole set-up: token, message, chat found, test message, saved', async () => {
  await startBot();
  const session = setup();
  await session.answer('Bot token from @BotFather (not shown):', BOT_TOKEN);
  await session.expect('✔ The bot is @runner_bot');
  await session.expect('Now send a message to @runner_bot');
  await session.expect('wait 2 to 3 seconds');
  // Privacy mode is on: the advice applies.
  await session.expect('/setprivacy');
  await session.expect(/waiting for a message to @runner_bot, 1\d\d s/);
  bot.push(messageIn(GROUP));
  await session.expect('✔ Found Deploys (supergroup -1001234567890)');
  await session.answer('Announce deploys there? [Y/n]:');
  await session.expect('✔ The chat is Deploys (supergroup -1001234567890)');
  await session.expect('✔ The test message was delivered');
  await session.expect(`saved telegram in ${root}/config.yml; channel: telegram`);
  assert.equal(await session.done, { status: 0, signal: undefined });
  assert.is(
    config(),
    `notify:\n  channel: telegram\n  telegram_bot_token: ${BOT_TOKEN}\n  telegram_chat_id: "-1001234567890"\n`,
  );
  assert.is(bot.messages.length, 1);
  assert.is(bot.messages[0]?.chat_id, GROUP.id);
  assert.equal(findSecret(session.raw(), BOT_TOKEN), []);
  assert.match(tree(root, { modes: true })['config.yml'] ?? '', /^0600 /);
});

test('a key leads to manual entry, where the sign of the chat id is checked by asking', async () => {
  await startBot();
  const session = await begun();
  await session.expect('m: enter the chat id');
  session.type('m');
  await session.answer('Chat id (negative for groups and channels), or @name:', 'deploys');
  await session.answer('that is not a chat id', '1001234567890');
  await session.answer(
    'chat not found (getChat, 400); check that the chat_id is right, and negative',
    '-1001234567x\x7f890',
  );
  await session.expect('The chat is Deploys');
  await session.expect('saved');
  assert.match(config(), /telegram_chat_id: "-1001234567890"\n/);
});

test('a token that is refused is asked for again, at most three times', async () => {
  await startBot();
  const session = setup();
  await session.answer('Bot token', 'not a token');
  await session.expect('that is not a bot token');
  await session.answer('Bot token', '987654321:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte');
  await session.expect('telegram: Unauthorized (getMe, 401); check the bot token');
  await session.answer('Bot token', `${BOT_TOKEN}x`);
  await session.expect('no valid bot token in 3 attempts, nothing was changed (token_invalid)');
  assert.is((await session.done).status, 1);
  assert.equal(tree(root), {});
  assert.equal(findSecret(session.raw(), `${BOT_TOKEN}x`), []);
});

test('the end of the input is status 1 and writes nothing', async () => {
  await startBot();
  const session = setup();
  await session.expect('Bot token');
  session.type(CTRL_D);
  await session.expect('the input ended before an answer (interrupted)');
  assert.is((await session.done).status, 1);
  assert.equal(tree(root), {});
});

test.run();
