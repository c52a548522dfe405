import * as assert from 'uvu/assert';
import { CHAT_ID, chats, chatsSuite, configOf } from './chats.ts';
import { testChannels } from './test-command.ts';

const test = chatsSuite();

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
  assert.is(bot.messages[0]?.text, '🔔 Test notification\nrunner announces deploys here.');
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

test('--channel tests that one alone', async () => {
  await testChannels(['--channel', 'telegram']);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [1, 0]);
});

test('a file that send refuses is refused, also by the test of one channel', async () => {
  chats.configure(`${configOf(chats.bot, chats.hook, 'td')}telemetry: 5\n`);
  const ended = await testChannels(['--channel', 'telegram']);
  assert.equal([ended.status, ended.stdout], [1, '']);
  assert.match(ended.stderr, /: telemetry: must be a section, .* \(config_invalid\)\n$/);
  assert.equal(chats.bot.requests, []);
});

test('without any channel the status is 1', async () => {
  chats.configure('');
  const ended = await testChannels();
  assert.equal(
    [ended.status, ended.stdout, ended.stderr],
    [
      1,
      '',
      `runner notify test: no channel is active: run \`runner notify setup\`, or see section notify of ${chats.root}/config.yml (not_configured)\n`,
    ],
  );
});

test.run();
