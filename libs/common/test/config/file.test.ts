import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { maxDeployRetries, notifySettingsOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusal, told } from '../cli/refusal.ts';
import { freshRoot, plant } from '../files/scratch.ts';
import { BOT, complaint, config, HOOK, paths } from './config-text.ts';

const TOKEN_RULE = 'must be a bot token: digits, a colon, letters and digits';
const BAD: readonly (readonly [text: string, sentence: string])[] = [
  ['- a\n', ':1: must be a section, not a list'],
  ['just text\n', ':1: must be a section, not a single value'],
  ['notify: on\n', ':1: notify: must be a section, not a single value'],
  ['# one\nnotify:\n  - channel\n', ':3: notify: must be a section, not a list'],
  [
    'notify:\n  channel: fax\n',
    ':2: notify.channel: must be one of telegram, discord, slack, ntfy, email, webhook, both',
  ],
  [
    'notify:\n  channel: Telegram\n',
    ':2: notify.channel: must be one of telegram, discord, slack, ntfy, email, webhook, both',
  ],
  [
    'notify:\n  channel: 1\n',
    ':2: notify.channel: must be one of telegram, discord, slack, ntfy, email, webhook, both',
  ],
  [
    'notify:\n  channel: [fax]\n',
    ':2: notify.channel[0]: must be one of telegram, discord, slack, ntfy, email, webhook',
  ],
  ['notify:\n  telegram_bot_token: abc\n', `:2: notify.telegram_bot_token: ${TOKEN_RULE}`],
  ['notify:\n  telegram_bot_token: 123456\n', `:2: notify.telegram_bot_token: ${TOKEN_RULE}`],
  ['\n\ntelegram_bot_token: "12:a b"\n', `:3: telegram_bot_token: ${TOKEN_RULE}`],
  [
    'notify: {telegram_chat_id: my chat}\n',
    ':1: notify.telegram_chat_id: must be a chat id: a whole number or @name of 4 or more characters',
  ],
  [
    'notify: {telegram_chat_id: 1.5}\n',
    ':1: notify.telegram_chat_id: must be a chat id: a whole number or @name of 4 or more characters',
  ],
  [
    'notify: {telegram_chat_id: 0x10}\n',
    ':1: notify.telegram_chat_id: must be a chat id: a whole number or @name of 4 or more characters',
  ],
  [
    'notify: {telegram_chat_id: true}\n',
    ':1: notify.telegram_chat_id: must be a chat id: a whole number or @name of 4 or more characters',
  ],
  [
    'notify: {telegram_thread_id: 0}\n',
    ':1: notify.telegram_thread_id: must be a whole number from 1 to 9007199254740991',
  ],
  [
    'notify: {telegram_thread_id: "7"}\n',
    ':1: notify.telegram_thread_id: must be a whole number from 1 to 9007199254740991',
  ],
  ['notify: {verbose_errors: yes}\n', ':1: notify.verbose_errors: must be true or false'],
  ['notify: {verbose_errors: "true"}\n', ':1: notify.verbose_errors: must be true or false'],
  ['notify: {verbose_errors: 1}\n', ':1: notify.verbose_errors: must be true or false'],
  [
    'notify: {discord_webhook: 7}\n',
    ':1: notify.discord_webhook: must be a text (put it in quotes)',
  ],
  [
    'notify: {discord_webhook: {a: 1}}\n',
    ':1: notify.discord_webhook: must be a single value, not a section',
  ],
  ['max_deploy_retries: 0\n', ':1: max_deploy_retries: must be a whole number from 1 to 1000'],
  ['max_deploy_retries: 1001\n', ':1: max_deploy_retries: must be a whole number from 1 to 1000'],
  ['max_deploy_retries: 2.5\n', ':1: max_deploy_retries: must be a whole number from 1 to 1000'],
  ['max_deploy_retries: three\n', ':1: max_deploy_retries: must be a whole number from 1 to 1000'],
  [
    'notify:\n  max_deploy_retries: -1\n',
    ':2: notify.max_deploy_retries: must be a whole number from 1 to 1000',
  ],
  [
    'notify:\n  templates:\n    fail: {telegram: x}\n',
    ':3: notify.templates.fail: unknown key (known here: started, success, failure, rollback)',
  ],
  [
    'notify:\n  templates:\n    failure: {matrix: x}\n',
    ':3: notify.templates.failure.matrix: unknown key (known here: telegram, discord, slack, ntfy, email, webhook)',
  ],
  [
    'notify:\n  templates:\n    failure: {discord: 5}\n',
    ':3: notify.templates.failure.discord: must be a text (put it in quotes)',
  ],
  ['code_host_api_url: 5\n', ':1: code_host_api_url: must be a text (put it in quotes)'],
  ['a: 1\nnotify:\n  channel: both\n  channel: both\n', ':4: channel: duplicate key'],
  ['notify: &n {channel: both}\nother: *n\n', ':2: uses an alias (*name): write the value out'],
];

for (const [text, sentence] of BAD) {
  test(`\`${text.trim().replaceAll('\n', '⏎')}\` is refused with its line and key`, () => {
    assert.is(complaint(text), `config_invalid: config.yml${sentence}`);
  });
}

test('an address that is not safe for a secret is refused, with its place in the file', () => {
  const bot = `telegram_bot_token: "${BOT}", telegram_chat_id: 1`;
  const rule = 'must be https: a secret is sent there (http is only allowed for localhost)';
  for (const [text, sentence] of [
    ['code_host_api_url: http://api.example\n', `config.yml:1: code_host_api_url ${rule}`],
    [
      '\n# the host\ncode_host_git_url: github.com\n',
      'config.yml:3: code_host_git_url is not an https address',
    ],
    [
      'code_host_git_url: ssh://git@github.com\n',
      'config.yml:1: code_host_git_url is not an https address',
    ],
    [
      `notify: {${bot}, telegram_api_url: "http://t.example"}\n`,
      `config.yml:1: notify.telegram_api_url ${rule}`,
    ],
    [
      'notify: {discord_webhook: "http://discord.com/api/webhooks/1/secretsecret"}\n',
      `config.yml:1: notify.discord_webhook ${rule}`,
    ],
    [
      'notify: {discord_webhook: "secretsecret"}\n',
      'config.yml:1: notify.discord_webhook is not an https address',
    ],
    [
      'discord_webhook: "https://u:secretsecret@discord.com/"\n',
      'config.yml:1: discord_webhook must not contain a user name or password',
    ],
  ] as const) {
    assert.is(complaint(text), `insecure_address: ${sentence}`);
  }
  const env = { RUNNER_CODE_HOST_API_URL: 'http://api.example' };
  assert.is(complaint('', env), `insecure_address: RUNNER_CODE_HOST_API_URL ${rule}`);
});

test('anything but a small regular file is refused', () => {
  const said = (where: typeof paths) => told(() => readConfig(where)).replace(where.root, 'ROOT');
  const link = freshRoot();
  plant(join(link.root, 'target'), 'notify: {}\n');
  symlinkSync('target', link.config);
  assert.is(said(link), 'file_unreadable: cannot read ROOT/config.yml: it is a symbolic link');
  const folder = freshRoot();
  mkdirSync(folder.config, { recursive: true });
  assert.is(said(folder), 'file_unreadable: cannot read ROOT/config.yml: it is not a file');
  const fifo = freshRoot();
  mkdirSync(fifo.root);
  spawnSync('mkfifo', [fifo.config]);
  assert.is(said(fifo), 'file_unreadable: cannot read ROOT/config.yml: it is not a file');
  const big = freshRoot();
  plant(big.config, 'x'.repeat(65_537));
  assert.is(
    said(big),
    'file_unreadable: cannot read ROOT/config.yml: it is larger than 65536 bytes',
  );
});

test('no refusal repeats a value of the file, and no setting prints its secret', () => {
  const secret = 'Zq7secretZq7secretZq7';
  const wrong = [
    `notify: ${secret}\n`,
    `notify: [${secret}]\n`,
    `notify:\n  channel: ${secret}\n`,
    `notify:\n  telegram_bot_token: ${secret}\n`,
    `notify:\n  telegram_chat_id: ${secret}\n`,
    `notify:\n  verbose_errors: ${secret}\n`,
    `notify:\n  discord_webhook: ${secret}\n`,
    `notify:\n  discord_webhook: http://${secret}/\n`,
    `notify:\n  discord_webhook: https://${secret}@x/\n`,
    `max_deploy_retries: ${secret}\n`,
    `notify:\n  templates: ${secret}\n`,
    `code_host_api_url: ${secret}\n`,
    `notify:\n  telegram_bot_token: "${secret}\n  channel: both\n`,
    `notify:\n  telegram_bot_token: ${secret}: x\n`,
    `notify:\n\ttelegram_bot_token: ${secret}\n`,
    `notify:\n  telegram_bot_token: [${secret}\n`,
    `${secret}\n`,
  ];
  for (const text of wrong) {
    const failure = refusal(
      () =>
        notifySettingsOf(config(text), {}) &&
        maxDeployRetries(config(text)) &&
        codeHostOf(config(text), {}),
    );
    assert.not.ok(inspect(failure, { depth: 9 }).includes(secret), text);
  }
  const good = `notify: {telegram_bot_token: "123456:${secret}", telegram_chat_id: 1, discord_webhook: "https://x/${secret}"}`;
  const settings = notifySettingsOf(config(good), {});
  assert.not.ok((inspect(settings, { depth: 9 }) + JSON.stringify(settings)).includes(secret));
});

const value = fc.oneof(
  fc.constantFrom(
    '1',
    'x',
    'true',
    '~',
    '""',
    '[]',
    '{}',
    BOT,
    HOOK,
    '-100123',
    '|',
    '{telegram: x}',
    '1e400',
    '.nan',
    '.inf',
    '-0',
    '0o7',
    '!!str 1',
  ),
  fc.string({ maxLength: 8 }),
);
const key = fc.constantFrom(
  'notify',
  'channel',
  'telegram_bot_token',
  'telegram_chat_id',
  'discord_webhook',
  'verbose_errors',
  'max_deploy_retries',
  'templates',
  'failure',
  'telegram_thread_id',
  'code_host_api_url',
  '__proto__',
  'x',
);

test('any file is accepted, or refused as an invalid configuration', () => {
  const line = fc
    .tuple(fc.constantFrom('', '  ', '    '), key, value)
    .map(([indent, name, text]) => `${indent}${name}: ${text}`);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      plant(paths.config, lines.join('\n'));
      for (const use of [
        () => codeHostOf(readConfig(paths), {}),
        () => maxDeployRetries(readConfig(paths)),
        () => notifySettingsOf(readConfig(paths), {}),
      ]) {
        try {
          use();
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          assert.ok(['config_invalid', 'insecure_address'].includes(error.code), error.code);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
