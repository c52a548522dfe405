import { shell } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID, chats, chatsSuite, event } from './chats.ts';

const test = chatsSuite();

test('what audit emit prints is announced in a pipeline of the shell', async () => {
  const ended = await shell(
    'runner-audit emit DeployStarted --project shop --version v1 --deploy-id 12345678 | runner-notify send',
    { root: chats.root },
  );
  assert.is(
    ended.stdout,
    'delivered  telegram  DeployStarted shop v1 [12345678], 1 message\ndelivered  discord   DeployStarted shop v1 [12345678], 1 message\n',
  );
  assert.equal([ended.status, ended.stderr], [0, '']);
});

test('an empty input is no failure, whatever the configuration is', async () => {
  chats.configure('notify: [');
  const ended = await chats.send([]);
  assert.equal([ended.status, ended.stdout, ended.stderr], [0, '', '']);
});

test('a malformed configuration is reported with its line, and nothing is sent', async () => {
  chats.configure(`notify:\n  telegram_bot_token: ${BOT_TOKEN}\n  channel: pigeon\n`);
  const ended = await chats.send([event('DeployStarted')], ['--json']);
  assert.is(ended.status, 1);
  assert.is(
    ended.stderr,
    `runner notify send: ${chats.root}/config.yml:3: notify.channel: must be one of telegram, discord, slack, ntfy, email, webhook, both (config_invalid)\n`,
  );
  assert.is(JSON.parse(ended.stdout).error, 'config_invalid');
  assert.is(chats.bot.requests.length, 0);
});

test('without any channel the record is skipped, with one note', async () => {
  chats.configure('notify:\n  telegram_bot_token: ""\n  telegram_chat_id:\n');
  const ended = await chats.send([event('DeployStarted'), event('DeploySuccess')], ['--strict']);
  assert.is(ended.status, 0);
  assert.is(
    ended.stdout,
    'skipped    -         DeployStarted shop v1.3.0 [a1b2c3d4], not_configured\nskipped    -         DeploySuccess shop v1.3.0 [a1b2c3d4], not_configured\n',
  );
  assert.is(
    ended.stderr,
    `runner notify send: no channel is active: run \`runner notify setup\`, or see section notify of ${chats.root}/config.yml\n`,
  );
});

test('the credentials of the earlier layout, at the top level, work as well', async () => {
  const { bot, hook } = chats;
  chats.configure(
    `telegram_bot_token: "${BOT_TOKEN}"\ntelegram_chat_id: ${CHAT_ID}\ndiscord_webhook: ${hook.webhook}\n`,
  );
  const ended = await chats.send([event('DeployStarted')], [], {
    env: { RUNNER_TELEGRAM_API_URL: bot.url },
  });
  assert.is(ended.status, 0);
  assert.equal([bot.messages.length, hook.messages.length], [1, 1]);
});

test('of a delivered record nothing remains, and outside of spool and locks nothing was written', async () => {
  const before = tree(chats.root, { modes: true });
  await chats.send([event('DeployFailure', { error: 'x\n'.repeat(900) })]);
  const after = Object.entries(tree(chats.root, { modes: true }));
  const added = after.filter(([path]) => !Object.hasOwn(before, path));
  assert.equal(
    added.map(([path, text]) => [path, text.slice(0, 4)]),
    [
      ['locks/', '0750'],
      ['locks/.notify-discord.lock', '0600'],
      ['locks/.notify-telegram.lock', '0600'],
      ['spool/', '0700'],
      ['spool/notify/', '0700'],
      ['spool/notify/discord.json', '0600'],
      ['spool/notify/telegram.json', '0600'],
    ],
  );
  assert.equal(Object.fromEntries(after.filter(([path]) => Object.hasOwn(before, path))), before);
});

for (const [args, sentence] of [
  [
    ['--wait', 'soon'],
    "error: invalid value 'soon' for '--wait <SECONDS>': it is not a number of seconds from 0 to 86400\n",
  ],
  [
    ['--wait', '-1'],
    "error: invalid value '-1' for '--wait <SECONDS>': it is not a number of seconds from 0 to 86400\n",
  ],
  [
    ['--wait=86401'],
    "error: invalid value '86401' for '--wait <SECONDS>': it is not a number of seconds from 0 to 86400\n",
  ],
  [
    ['--channel', 'pigeon'],
    "error: invalid value 'pigeon' for '--channel <CHANNEL>' [possible values: telegram, discord, slack, ntfy, email, webhook, both, all, none, code-host]\n",
  ],
  [['shop'], "error: unexpected argument 'shop' found\n"],
] as const) {
  test(`${args.join(' ')} is wrong usage`, async () => {
    const ended = await chats.send([event('DeployStarted')], args);
    assert.equal([ended.status, ended.stdout, ended.stderr], [2, '', sentence]);
    assert.is(chats.bot.requests.length, 0);
  });
}

test.run();
