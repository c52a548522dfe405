/** Which channels config.yml makes active, and what is printed about one that it disables. */
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, chats, chatsSuite, configOf, event } from './chats.ts';

const test = chatsSuite();

const status = (args: readonly string[]): Promise<Ended> =>
  run('runner-notify', ['status', ...args], { root: chats.root });

for (const [what, lines, sentence] of [
  [
    'notify.channel names the other one',
    ['channel: discord'],
    'no channel is active: notify.channel is discord, and discord_webhook is not set; set notify.channel to telegram or both in CONFIG',
  ],
  [
    'half of the credentials are there',
    ['telegram_chat_id: ""'],
    'no channel is active: telegram_chat_id is not set in CONFIG',
  ],
] as const) {
  test(`${what}: send, test and status name the key`, async () => {
    const config = join(chats.root, 'config.yml');
    const text = configOf(chats.bot, chats.hook, 't', lines.slice(0, 1));
    const own = lines[0].startsWith('telegram_chat_id')
      ? text.replace(/ {2}telegram_chat_id: -\d+\n/, '')
      : text;
    chats.configure(own);
    const words = sentence.replace('CONFIG', config);
    const sent = await chats.send([event('DeployStarted')]);
    assert.equal([sent.status, sent.stderr], [0, `runner notify send: ${words}\n`]);
    const shown = await status(['--offline']);
    assert.equal([shown.status, shown.stderr], [1, `runner notify status: ${words}\n`]);
    const tested = await run('runner-notify', ['test'], { root: chats.root });
    assert.equal(
      [tested.status, tested.stderr],
      [1, `runner notify test: ${words} (not_configured)\n`],
    );
  });
}

test('an address that is not secure is reported with its line and the key as written', async () => {
  const config = join(chats.root, 'config.yml');
  for (const [text, place] of [
    [
      'notify:\n  # the chat\n  discord_webhook: http://discord.com/x\n',
      ':3: notify.discord_webhook',
    ],
    ['\ndiscord_webhook: http://discord.com/x\n', ':2: discord_webhook'],
  ] as const) {
    chats.configure(text);
    const { status: code, stderr } = await status(['--offline']);
    assert.is(code, 1);
    assert.is(
      stderr,
      `runner notify status: ${config}${place} must be https: a secret is sent there (http is only allowed for localhost) (insecure_address)\n`,
    );
  }
});

test('several missing keys are in the plural', async () => {
  const hook = 'https://discord.com/api/webhooks/1/x';
  chats.configure(`notify:\n  channel: telegram\n  discord_webhook: ${hook}\n`);
  const { stderr } = await status(['--offline']);
  assert.match(stderr, /, and telegram_bot_token and telegram_chat_id are not set;/);
});

const T = `telegram_bot_token: "${BOT_TOKEN}"\ntelegram_chat_id: -5\n`;
const D = 'discord_webhook: https://discord.com/api/webhooks/1/x\n';
const indented = (text: string) => text.replace(/^/gm, '  ').trimEnd();
for (const [what, text, active] of [
  ['no file at all', '', []],
  ['section notify removed', 'max_deploy_retries: 2\n', []],
  ['an empty section', 'notify:\n', []],
  ['both channels', `notify:\n${indented(T + D)}\n`, ['telegram', 'discord']],
  [
    'empty credentials',
    'notify:\n  telegram_bot_token: ""\n  telegram_chat_id:\n  discord_webhook: ""\n',
    [],
  ],
  [
    'an empty chat id',
    `notify:\n  telegram_bot_token: "${BOT_TOKEN}"\n  telegram_chat_id: ""\n`,
    [],
  ],
  ['an empty webhook', `notify:\n${indented(T)}\n  discord_webhook:\n`, ['telegram']],
  ['the earlier layout', T + D, ['telegram', 'discord']],
  ['the earlier layout and channel', `${T + D}notify:\n  channel: discord\n`, ['discord']],
  ['channel: telegram', `notify:\n  channel: telegram\n${indented(T + D)}\n`, ['telegram']],
  ['channel: both with one', `notify:\n  channel: both\n${indented(D)}\n`, ['discord']],
  ['channel: discord without it', `notify:\n  channel: discord\n${indented(T)}\n`, []],
  ['an empty value over the earlier layout', `${D}notify:\n  discord_webhook: ""\n`, []],
] as const) {
  test(`activation with ${what}: ${active.join(' and ') || 'none'}`, async () => {
    chats.configure(text);
    const ended = await status(['--offline', '--json']);
    const found = (JSON.parse(ended.stdout).channels as { channel: string; active: boolean }[])
      .filter((each) => each.active)
      .map(({ channel }) => channel);
    assert.equal(found, active);
    assert.is(ended.status, active.length === 0 ? 1 : 0);
  });
}

test.run();
