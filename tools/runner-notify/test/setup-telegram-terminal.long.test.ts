import { findBytes } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import { CTRL_C, startOnTerminal } from '@runner/testing/terminal';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { BOT_TOKEN } from './chats.ts';
import {
  ADA,
  begun,
  bot,
  config,
  GROUP,
  messageIn,
  NEWS,
  OTHER,
  root,
  setup,
  setupTelegramTerminalSuite,
  startBot,
} from './setup-telegram-terminal.ts';

const test = setupTelegramTerminalSuite();

test('detection leaves the updates for the program that they belong to', async () => {
  await startBot();
  const session = await begun();
  await session.expect('waiting');
  bot.push(messageIn(ADA));
  await session.answer('Found Ada (private 4200000001)');
  await session.expect('saved');
  const answer = await fetch(`${bot.url}/bot${BOT_TOKEN}/getUpdates`);
  assert.is(((await answer.json()) as { result: unknown[] }).result.length, 1);
});

test('several chats are listed with title and type, the newest first, and one is chosen', async () => {
  await startBot({ readsAll: true });
  bot.push(messageIn(ADA));
  bot.push(messageIn(GROUP));
  bot.push({ channel_post: messageIn(NEWS).message });
  const session = await begun();
  await session.expect(
    /1 {2}News \(channel -100888\)\r\n\s+2 {2}Deploys \(supergroup -1001234567890\)\r\n\s+3 {2}Ada \(private 4200000001\)/,
  );
  await session.answer('Which chat? [1-5]:', '9');
  await session.answer('answer with a number from 1 to 5', '1');
  await session.expect('The chat is News (channel -100888)');
  await session.expect('saved');
  assert.match(config(), /telegram_chat_id: "-100888"\n/);
  assert.not.match(session.text(), /setprivacy/);
});

test('looking again finds the chat that was missing', async () => {
  await startBot();
  bot.push(messageIn(ADA));
  const session = await begun();
  await session.answer('Found Ada', 'n');
  await session.expect('Look again');
  await session.expect('Which chat? [1-3]:');
  bot.push(messageIn(OTHER));
  session.enter('2');
  await session.answer('1  Talk (supergroup -100777)', '1');
  await session.expect('saved');
  assert.match(config(), /telegram_chat_id: "-100777"\n/);
});

test('the topics of a group are offered, with the names that were seen', async () => {
  await startBot({ chats: [{ ...GROUP, topics: [7, 9] }] });
  bot.push({
    message: {
      ...messageIn(GROUP, { is_forum: true }).message,
      is_topic_message: true,
      message_thread_id: 7,
      reply_to_message: { forum_topic_created: { name: 'Releases' } },
    },
  });
  const session = await begun();
  await session.answer('Announce deploys there?', 'y');
  await session.expect('2  Releases (topic 7)');
  await session.answer('The group has topics. Which one? [1-3]:', '3');
  await session.answer('Number of the topic', 'nine');
  await session.answer('that is not a whole number above 0', '9');
  await session.expect('saved');
  assert.match(config(), /telegram_thread_id: 9\n/);
  assert.is(bot.messages[0]?.thread_id, 9);
});

test("another program's webhook is explained, left alone, and the chat id is asked for", async () => {
  await startBot();
  bot.conflicts.webhook = 'https://shop.example.org/hook/very-secret-path';
  const session = await begun();
  await session.expect('Another program uses this bot: its webhook at shop.example.org');
  await session.answer('Chat id', '-1001234567890');
  await session.expect('saved');
  assert.not.match(session.text(), /very-secret-path/);
  assert.equal(
    bot.requests.filter(({ path }) => /deleteWebhook|setWebhook|getUpdates/i.test(path)),
    [],
  );
});

test('another program that polls is reported, and the chat id is asked for', async () => {
  await startBot();
  bot.conflicts.otherPoller = true;
  const session = await begun();
  await session.expect('Another program polls this bot');
  await session.expect('Chat id');
  session.type(CTRL_C);
  assert.is((await session.done).status, 130);
});

test('a channel in which the bot may not post is explained and checked again', async () => {
  await startBot({ chats: [{ ...NEWS, canPost: false }] });
  bot.push({ channel_post: messageIn(NEWS).message });
  const session = await begun();
  await session.answer('Announce deploys there?');
  await session.expect(
    'make the bot an administrator of the channel, with the permission to post messages',
  );
  await session.expect('Check again');
  bot.chats.splice(0, 1, NEWS);
  session.enter('1');
  await session.expect('saved');
  assert.is(bot.messages.length, 1);
});

test('with a chat id that was given, privacy mode does not matter', async () => {
  await startBot({ chats: [GROUP] });
  const session = await begun(['--chat-id', String(GROUP.id)]);
  await session.expect('saved');
  assert.not.match(session.text(), /group privacy/);
});

test('a test message that is refused can be tried again, or not be saved', async () => {
  await startBot();
  const refused = {
    ok: false,
    error_code: 403,
    description: 'Forbidden: bot was kicked from the supergroup chat',
  };
  bot.fail({ status: 403, body: refused }, 2, 'sendMessage');
  const session = await begun(['--chat-id', '-1001234567890']);
  await session.expect('The test message was not delivered: telegram: Forbidden: bot was kicked');
  await session.answer('What now? [1-4]:', '1');
  await session.expect('The test message was not delivered');
  await session.answer('What now? [1-4]:', '4');
  await session.expect('stopped, nothing was changed (interrupted)');
  assert.is((await session.done).status, 1);
  assert.equal(tree(root), {});
});

test('a network failure is reported, and retried when the user wants', async () => {
  await startBot();
  bot.fail('drop', 1, 'getMe');
  const session = await begun(['--chat-id', '-1001234567890']);
  await session.expect("check the server's network");
  await session.answer('Try again? [Y/n]:');
  await session.expect('saved');
  assert.is((await session.done).status, 0);
});

const STEPS: readonly (readonly [step: string, waitFor: string, answer: string | undefined])[] = [
  ['the token', 'Bot token', BOT_TOKEN],
  ['the wait for a message', 'waiting', undefined],
  ['the chat', 'Announce deploys there?', 'n'],
  ['the choice of a chat', 'Which chat? [1-3]:', '3'],
  ['the chat id', 'Chat id', '-1001234567890'],
  ['a topic', 'Which one?', '1'],
  ['a refused test message', 'What now?', undefined],
];

for (const [index, [step]] of STEPS.entries()) {
  test(`Ctrl-C at ${step} ends with 130 and writes nothing`, async () => {
    await startBot({ chats: [{ ...GROUP, topics: [7] }, ADA] });
    bot.fail('html', Number.POSITIVE_INFINITY, 'sendMessage');
    const before = tree(root, { modes: true });
    const session = setup();
    for (const [name, waitFor, answer] of STEPS.slice(0, index)) {
      await session.expect(waitFor);
      if (answer !== undefined) session.enter(answer);
      else if (name.startsWith('the wait')) bot.push(messageIn(ADA));
    }
    await session.expect(STEPS[index]?.[1] as string);
    session.type(CTRL_C);
    await session.expect('cancelled, nothing was changed (interrupted)');
    assert.equal(await session.done, { status: 130, signal: undefined });
    assert.equal(tree(root, { modes: true }), before);
    assert.equal(findBytes(root, BOT_TOKEN), []);
  });
}

test('Ctrl-C ends a request that hangs, at once', async () => {
  await startBot();
  bot.fail('hang', 1, 'getMe');
  const session = await begun();
  await until(() => bot.requests.length > 0, 'the bot was not asked');
  // It would be asked for another token if the request came to its own end.
  session.type(CTRL_C);
  assert.is((await session.done).status, 130);
  assert.is(session.text().split('Bot token').length, 2);
});

test('on 80 columns words are whole, no line is broken, and NO_COLOR takes all colours away', async () => {
  for (const colours of [{}, { NO_COLOR: '1' }] as Record<string, string>[]) {
    await startBot();
    const session = startOnTerminal('runner-notify', ['setup', '--channel', 'telegram'], {
      root,
      env: { RUNNER_TELEGRAM_API_URL: bot.url, ...colours },
    });
    await session.answer('Bot token', BOT_TOKEN);
    await session.expect('m: enter the chat id)');
    session.type('m');
    await session.answer('Chat id', '-1');
    await session.expect('chat not found');
    await session.answer('Chat id', '-1001234567890');
    await session.expect('saved');
    await session.done;
    assert.is(/\x1b\[3\dm/.test(session.raw()), colours.NO_COLOR === undefined);
    const asked = session.text().split('✔ saved')[0] ?? '';
    const lines = asked.split(/[\r\n]+/);
    assert.ok(lines.length > 12 && lines.every((line) => [...line].length < 80), asked);
    assert.match(
      asked.replace(/\s+/g, ' '),
      'directly, or in a group or channel that the bot is in. Then wait 2 to 3 seconds. In a group send',
    );
    if (colours.NO_COLOR === undefined) await bot.close();
  }
});

test.run();
