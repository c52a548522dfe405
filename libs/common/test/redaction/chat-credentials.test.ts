import { chatSecretsOf } from '@runner/common/config/chat-credentials';
import { readConfig } from '@runner/common/config/file';
import { ChatCredentials } from '@runner/common/redaction/chat-credentials';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freshRoot, plant } from '../files/scratch.ts';

const HOOK = 'https://hooks.example.org/api/webhooks/42/mywebhooksecretvalue';
const TOKEN = '5550001:short_secret_9';
const OF_HOOK = [HOOK, 'mywebhooksecretvalue'];
const OF_TOKEN = [TOKEN, 'short_secret_9'];

function credentialsOf(text: string | undefined): ChatCredentials {
  const paths = freshRoot();
  if (text !== undefined) plant(paths.config, text);
  return new ChatCredentials(paths);
}

async function secretsOf(text: string | undefined): Promise<string[]> {
  return (await credentialsOf(text).secrets()).map((secret) => secret.reveal());
}

test('the credentials and their secret ends are known, in either layout', async () => {
  for (const [text, secrets] of [
    ['', []],
    ['notify: {}\n', []],
    [`notify:\n  discord_webhook: ${HOOK} # ours\n  channel: both\n`, OF_HOOK],
    [`notify:\r\n  discord_webhook: '${HOOK}'\r\n`, OF_HOOK],
    [`telegram_bot_token : ${TOKEN}\ndiscord_webhook: ${HOOK}\n`, [...OF_TOKEN, ...OF_HOOK]],
    [`telegram_bot_token: "${TOKEN}"\ntelegram_chat_id: "-1"\n`, OF_TOKEN],
    ["telegram_bot_token:\ndiscord_webhook: ''\n", []],
    [`# discord_webhook: ${HOOK}\n`, []],
    ['telegram_bot_token: not-a-valid-token\n', ['not-a-valid-token', 'not-a-valid-token']],
  ] as const) {
    assert.equal(await secretsOf(text), secrets, text);
  }
});

test('of a webhook with more behind its secret, the secret part is known alone', async () => {
  const at = (address: string) => secretsOf(`discord_webhook: ${address}\n`);
  assert.equal(await at(`${HOOK}?thread_id=7`), OF_HOOK);
  assert.equal(await at(`${HOOK}/`), OF_HOOK);
  assert.equal(await at(`${HOOK}/github`), [`${HOOK}/github`, 'mywebhooksecretvalue']);
  assert.equal(await at('https://chat.example.org/h/s3cret'), [
    'https://chat.example.org/h/s3cret',
    's3cret',
  ]);
  assert.equal(await at('https://chat.example.org'), ['https://chat.example.org'], 'no secret end');
});

test('everything YAML allows is read', async () => {
  for (const text of [
    `notify: {discord_webhook: ${HOOK}}\n`,
    `notify: {\n  discord_webhook: ${HOOK},\n  channel: both }\n`,
    `"discord_webhook": ${HOOK}\n`,
    `"discord_\\x77ebhook": ${HOOK}\n`,
    `discord_webhook:\n  ${HOOK}\n`,
    `discord_webhook: >-\n  ${HOOK}\n`,
    `discord_webhook: !!str ${HOOK}\n`,
    `discord_webhook: "https://hooks.example.org/api/\\\n  webhooks/42/mywebhooksecretvalue"\n`,
    `discord_webhook: "${HOOK.replace('my', '\\x6dy')}"\n`,
    `? discord_webhook\n: ${HOOK}\n`,
  ]) {
    const credentials = credentialsOf(text);
    const found = (await credentials.secrets()).map((secret) => secret.reveal());
    for (const secret of OF_HOOK) {
      assert.ok(found.includes(secret), text);
      assert.ok(credentials.mayBeIn(`(${secret})`), text);
    }
  }
});

test('a missing or oversized file has no known secrets', async () => {
  assert.equal(await secretsOf(undefined), []);
  assert.equal(await secretsOf('x'.repeat(70_000)), []);
});

test('every word of a file that cannot be parsed counts as a secret', async () => {
  for (const text of [
    `a: [\ndiscord_webhook: ${HOOK}\n`,
    `"discord_webhook": [\ndiscord_webhook: ${HOOK}\n`,
    `a: [\ndiscord_webhook:\n  ${HOOK}\n`,
  ]) {
    assert.ok((await secretsOf(text)).includes('mywebhooksecretvalue'), text);
  }
  assert.not.ok((await secretsOf(`a: [\ndiscord_webhook: ${HOOK}\n`)).includes('discord_webhook'));
});

test('ordinary text is distinguished from text that may hold a credential without parsing', () => {
  const credentials = credentialsOf(
    `# discord_webhook: comment\ndiscord_webhook: ${HOOK}\ntelegram_bot_token: ""\nx: 1\n`,
  );
  for (const [text, may] of [
    ['build: `npm run build` ended with status 1\nat src/index.ts:12', false],
    ['see https://discord.com/webhooks and set discord_webhook', false],
    [`POST ${HOOK} failed`, true],
    ['mywebhooksecretvalue', true],
    ['short', false],
  ] as const) {
    assert.is(credentials.mayBeIn(text), may, text);
  }
  assert.not.ok(credentialsOf('notify:\n  channel: both\n').mayBeIn(`POST ${HOOK} failed`));
});

const key = fc.constantFrom('telegram_bot_token', 'discord_webhook', '"discord_webhook"');
const value = fc.oneof(
  fc.constantFrom(TOKEN, HOOK, 'https://chat.example.org/h/s3cret', '1:a-b_c-d', '~', ''),
  fc.string({ unit: fc.constantFrom(...'ab1:/.-_?='), maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(...'ab\\x6 "'), maxLength: 12 }),
);
const written = fc.tuple(fc.constantFrom('"', "'", '', ''), value).map(([q, text]) => q + text + q);
const behind = fc.constantFrom('', '', ' # x', ' ', '\n# c', ',');
const entry = fc
  .tuple(
    key,
    fc.constantFrom(': ', ': ', ':  ', ' : ', ':\n    ', ': >-\n    ', ':\t'),
    written,
    behind,
  )
  .map((parts) => parts.join(''));
const part = fc.oneof(
  entry,
  entry.map((text) => `notify:\n  ${text}`),
  entry.map((text) => `notify: {${text}}`),
  entry.map((text) => `notify:\n  channel: both\n  ${text}\n  x: 1`),
  entry.map((text) => `other: |\n  ${text}`),
  fc.constantFrom('# none', '', 'x: 1', '---', 'y: "a\\\n  b"', '? z\n: 1'),
);

test('no credential in any file is missed', async () => {
  const paths = freshRoot();
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 3 }), async (parts) => {
      const text = parts.join('\n');
      plant(paths.config, text);
      let known: string[];
      try {
        known = chatSecretsOf(readConfig(paths)).map((secret) => secret.reveal());
      } catch {
        return;
      }
      // A shorter one is never looked for; one of short words is no address and no bot's token.
      const wanted = known.filter((secret) => /[\w.=-]{6,}/.test(secret));
      const credentials = new ChatCredentials(paths);
      const passed = wanted.filter((secret) => !credentials.mayBeIn(`(${secret})`));
      assert.equal(passed, [], `passed over: ${JSON.stringify(text)}`);
    }),
    { numRuns: 300 },
  );
});

test.run();
