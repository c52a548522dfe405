import { readConfig } from '@runner/common/config/file';
import { chatSecretsOf } from '@runner/common/config/settings';
import {
  chatConfigOf,
  configSecrets,
  mayHoldCredential,
  secretsInLines,
} from '@runner/common/redaction/config-secrets';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freshRoot, plant } from '../files/scratch.ts';

const HOOK = 'https://hooks.example.org/api/webhooks/42/mywebhooksecretvalue';
const TOKEN = '5550001:short_secret_9';
const OF_HOOK = [HOOK, 'mywebhooksecretvalue'];
const OF_TOKEN = [TOKEN, 'short_secret_9'];

const inLines = (text: string) => {
  const { secrets, complete } = secretsInLines(text);
  return [secrets.map((secret) => secret.reveal()), complete];
};

async function inFile(text: string | undefined): Promise<string[]> {
  const paths = freshRoot();
  if (text !== undefined) plant(paths.config, text);
  const config = chatConfigOf(paths);
  return config ? (await configSecrets(paths, config)).map((secret) => secret.reveal()) : [];
}

test('values on lines of their own are read without a parser, with their secret ends', () => {
  for (const [text, secrets] of [
    ['', []],
    ['notify: {}\n', []],
    [`notify:\n  discord_webhook: ${HOOK}\n`, OF_HOOK],
    [`notify:\n  discord_webhook: ${HOOK} # ours\n  channel: both\n`, OF_HOOK],
    [`notify:\r\n  discord_webhook: '${HOOK}'\r\n`, OF_HOOK],
    [`discord_webhook: "${HOOK}"   # ours\n\n# more\nother: 1\n`, OF_HOOK],
    [`telegram_bot_token : ${TOKEN}\ndiscord_webhook: ${HOOK}\n`, [...OF_TOKEN, ...OF_HOOK]],
    [`telegram_bot_token: "${TOKEN}"\ntelegram_chat_id: "-1"\n`, OF_TOKEN],
    ["telegram_bot_token:\ndiscord_webhook: ''\n", []],
    ['telegram_bot_token: # none\ndiscord_webhook: ""\n', []],
    [`# discord_webhook: ${HOOK}\n`, []],
  ] as const) {
    assert.equal(inLines(text), [secrets, true], text);
  }
});

test('of a webhook with more behind its secret, the secret part is known alone', () => {
  const at = (address: string) => inLines(`discord_webhook: ${address}\n`)[0];
  assert.equal(at(`${HOOK}?thread_id=7`), OF_HOOK);
  assert.equal(at(`${HOOK}/`), OF_HOOK);
  assert.equal(at(`${HOOK}/github`), [`${HOOK}/github`, 'mywebhooksecretvalue']);
  assert.equal(at('https://chat.example.org/h/s3cret'), [
    'https://chat.example.org/h/s3cret',
    's3cret',
  ]);
  assert.equal(at('https://chat.example.org'), ['https://chat.example.org'], 'no secret end');
});

test('whatever else YAML allows is left to the parser', async () => {
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
    assert.is(inLines(text)[1], false, text);
    const found = await inFile(text);
    for (const secret of OF_HOOK) assert.ok(found.includes(secret), text);
  }
});

test('without a file, or with one that is none, there is nothing to know; a mistake elsewhere hides nothing', async () => {
  assert.equal(await inFile(undefined), []);
  assert.equal(await inFile('x'.repeat(70_000)), []);
  assert.equal(await inFile(`a: [\ndiscord_webhook: ${HOOK}\n`), OF_HOOK);
  assert.equal(await inFile(`"discord_webhook": [\ndiscord_webhook: ${HOOK}\n`), OF_HOOK);
});

test('an ordinary text is told from one that may hold a credential without knowing them', () => {
  const paths = freshRoot();
  plant(
    paths.config,
    `# discord_webhook: none\ndiscord_webhook: ${HOOK}\ntelegram_bot_token: ""\nx: 1\n`,
  );
  const config = chatConfigOf(paths);
  assert.ok(config);
  for (const [text, may] of [
    ['build: `npm run build` ended with status 1\nat src/index.ts:12', false],
    ['see https://discord.com/webhooks and set discord_webhook', false],
    [`POST ${HOOK} failed`, true],
    ['mywebhooksecretvalue', true],
    ['short', false],
  ] as const) {
    assert.is(mayHoldCredential(config, text), may, text);
  }
  plant(paths.config, 'notify:\n  channel: both\n');
  assert.is(chatConfigOf(paths), undefined);
});

const key = fc.constantFrom('telegram_bot_token', 'discord_webhook', '"discord_webhook"');
const value = fc.oneof(
  fc.constantFrom(TOKEN, HOOK, "it''s", 'a#b', 'a #b', 'a: b', 'a,b}', '- x', '&a x', '~', ''),
  fc.string({ unit: fc.constantFrom(...'ab1:/.#\'"\\ ,{}[]-&*!|>%@`?~'), maxLength: 12 }),
);
const written = fc.tuple(fc.constantFrom('"', "'", '', ''), value).map(([q, text]) => q + text + q);
const behind = fc.constantFrom('', '', ' # x', ' ', '#', '\n    more', '\n# c', ',');
const entry = fc
  .tuple(
    key,
    fc.constantFrom(': ', ': ', ':  ', ' : ', ':', ':\n    ', ': >-\n    ', ':\t'),
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

test('no value that the parser finds is overlooked, whatever the file is made of', async () => {
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
      const config = chatConfigOf(paths);
      const read = config ? await configSecrets(paths, config) : [];
      const found = read.map((secret) => secret.reveal());
      // A shorter one is never looked for.
      const wanted = known.filter((secret) => secret.length >= 6);
      const missing = wanted.filter((secret) => !found.includes(secret));
      assert.equal(missing, [], JSON.stringify(text));
      const passed = wanted.filter(
        (secret) => !config || !mayHoldCredential(config, `(${secret})`),
      );
      assert.equal(passed, [], `passed over: ${JSON.stringify(text)}`);
    }),
    { numRuns: 1_200 },
  );
});

test.run();
