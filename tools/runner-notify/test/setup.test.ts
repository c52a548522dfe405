/** `setup` without a terminal. */
import { writeFileSync } from 'node:fs';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID } from './chats.ts';
import { chats, config, files, secretless, setup, setupSuite } from './setup.ts';

const test = setupSuite();

test('both channels are set up from files, each with a test message', async () => {
  const ended = await setup([
    '--channel=both',
    `--token-file=${files.token}`,
    `--chat-id=${CHAT_ID}`,
    '--thread-id=7',
    `--webhook-file=${files.webhook}`,
  ]);
  assert.is(ended.status, 0);
  assert.is(
    ended.stdout,
    `✔ saved telegram and discord in ${chats.root}/config.yml; channel: both\nThe test message was delivered. Next: put notify: {} into the .deploy.yml of each app to announce, commit and push it\n`,
  );
  assert.is(ended.stderr, '');
  assert.is(
    config(),
    [
      'notify:',
      '  channel: both',
      `  telegram_bot_token: ${BOT_TOKEN}`,
      `  telegram_chat_id: "${CHAT_ID}"`,
      '  telegram_thread_id: 7',
      `  discord_webhook: ${chats.hook.webhook}`,
      '',
    ].join('\n'),
  );
  assert.is(chats.bot.messages[0]?.thread_id, 7);
  assert.is(chats.hook.messages.length, 1);
  secretless(ended);
});

for (const [args, missing] of [
  [[], '--channel <CHANNEL>'],
  [['--channel', 'telegram'], '--token-file <FILE> (or RUNNER_TELEGRAM_TOKEN), --chat-id <ID>'],
  [['--channel', 'discord'], '--webhook-file <FILE> (or RUNNER_DISCORD_WEBHOOK)'],
  [['--chat-id', '-1'], '--token-file <FILE> (or RUNNER_TELEGRAM_TOKEN)'],
  [
    ['--channel', 'both', '--chat-id=-1'],
    '--token-file <FILE> (or RUNNER_TELEGRAM_TOKEN), --webhook-file <FILE> (or RUNNER_DISCORD_WEBHOOK)',
  ],
] as const) {
  test(`${args.join(' ') || 'nothing'} without a terminal names what is missing`, async () => {
    const before = tree(chats.root);
    const ended = await setup(args);
    assert.equal(
      [ended.status, ended.stdout, ended.stderr],
      [
        2,
        '',
        `error: the following required arguments were not provided: ${missing}; stdin is not a terminal\n`,
      ],
    );
    assert.equal(tree(chats.root), before);
  });
}

test('a channel that is active already stays active, and it is said', async () => {
  chats.configure(`notify:\n  discord_webhook: ${chats.hook.webhook}\n`);
  const ended = await setup([
    '--channel=telegram',
    `--token-file=${files.token}`,
    `--chat-id=${CHAT_ID}`,
  ]);
  assert.match(
    ended.stderr,
    /runner notify setup: discord is configured already and stays active\n$/,
  );
  assert.match(config(), /\n {2}channel: both\n/);
});

test('a wrong template is reported before anything is asked', async () => {
  chats.configure('notify:\n  templates:\n    failure: {discord: "${PROJCT}"}\n');
  const ended = await setup(['--channel=discord', `--webhook-file=${files.webhook}`]);
  assert.is(ended.status, 1);
  assert.match(
    ended.stderr,
    /config\.yml:\d+: notify\.templates\.failure\.discord: the template has the unknown variable \$\{PROJCT\} .* \(config_invalid\)\n$/,
  );
  assert.is(chats.hook.requests.length, 0);
});

test('a text that is no token or no webhook is refused without repeating it', async () => {
  writeFileSync(files.token, 'hunter2hunter2');
  writeFileSync(files.webhook, 'https://discord.com/hunter2hunter2');
  const token = await setup([`--token-file=${files.token}`, `--chat-id=${CHAT_ID}`]);
  const webhook = await setup([`--webhook-file=${files.webhook}`]);
  assert.equal([token.status, webhook.status], [1, 1]);
  assert.match(token.stderr, /not a bot token.*\(token_invalid\)/);
  assert.match(webhook.stderr, /not a webhook address.*\(insecure_address\)/);
  assert.not.match(token.stderr + webhook.stderr, /hunter2/);
  assert.is(chats.bot.requests.length, 0);
});

test.run();
