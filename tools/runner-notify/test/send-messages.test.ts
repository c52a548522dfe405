import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHAT_ID, type Chats, configOf, event, startChats } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
});
test.after.each(() => chats.close());

const FAILURE = { previous_version: 'v1.2.9', error: 'health: answered 500\n[api] *boom* `x` \\' };
const ROLLBACK = { version: 'v1.2.9', from_version: 'v1.3.0', reason: 'health: answered 500' };

const telegramPayload = (text: string) => ({
  chat_id: String(CHAT_ID),
  text,
  parse_mode: 'MarkdownV2',
  link_preview_options: { is_disabled: true },
});

test('the four kinds arrive in Telegram, in order, with their fields', async () => {
  const ended = await chats.send(
    [
      event('DeployStarted'),
      event('DeploySuccess', { duration_ms: 65_000 }),
      event('DeployFailure', FAILURE),
      event('RollbackSuccess', ROLLBACK),
    ],
    ['--channel', 'telegram'],
  );
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.is(
    ended.stdout,
    [
      'delivered  telegram  DeployStarted shop v1.3.0 [a1b2c3d4], 1 message\n',
      'delivered  telegram  DeploySuccess shop v1.3.0 [a1b2c3d4], 1 message\n',
      'delivered  telegram  DeployFailure shop v1.3.0 [a1b2c3d4], 1 message\n',
      'delivered  telegram  RollbackSuccess shop v1.2.9 [a1b2c3d4], 1 message\n',
    ].join(''),
  );
  assert.equal(
    chats.bot.messages.map(({ payload }) => payload),
    [
      telegramPayload(
        '🚀 *Deploy started*\n*Project:* `shop`\n*Instance:* `prod-1`\n*Version:* `v1.3.0`\n*Deploy:* `a1b2c3d4`',
      ),
      telegramPayload(
        '✅ *Deploy completed*\n*Project:* `shop`\n*Instance:* `prod-1`\n*Version:* `v1.3.0`\n*Duration:* `1 m 05 s`\n*Deploy:* `a1b2c3d4`',
      ),
      telegramPayload(
        '❌ *Deploy failed*\n*Project:* `shop`\n*Instance:* `prod-1`\n*Version:* `v1.3.0`\n*Deploy:* `a1b2c3d4`\n*Rollback:* stayed on `v1.2.9`\n```\nhealth: answered 500\n[api] *boom* \\`x\\` \\\\```',
      ),
      telegramPayload(
        '↩️ *Rollback*\n*Project:* `shop`\n*Instance:* `prod-1`\n*From:* `v1.3.0`\n*To:* `v1.2.9`\n*Reason:* `health: answered 500`\n*Deploy:* `a1b2c3d4`',
      ),
    ],
  );
  assert.is(
    chats.bot.messages[2]?.text,
    '❌ Deploy failed\nProject: shop\nInstance: prod-1\nVersion: v1.3.0\nDeploy: a1b2c3d4\nRollback: stayed on v1.2.9\nhealth: answered 500\n[api] *boom* `x` \\',
  );
});

const inline = (name: string, value: string) => ({ name, value: `\`${value}\``, inline: true });
const discordPayload = (face: string, version: string, embed: object) => ({
  content: `${face}: \`shop\` / \`prod-1\` \`${version}\``,
  embeds: [
    {
      ...embed,
      footer: { text: 'deploy a1b2c3d4' },
      timestamp: '2026-05-04T09:30:00.000Z',
    },
  ],
  allowed_mentions: { parse: [] },
});

test('the four kinds arrive in Discord, in order, with their fields and colours', async () => {
  const ended = await chats.send(
    [
      event('DeployStarted'),
      event('DeploySuccess', { duration_ms: 65_000 }),
      event('DeployFailure', FAILURE),
      event('RollbackSuccess', ROLLBACK),
    ],
    ['--channel', 'discord', '--json'],
  );
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.is(
    ended.stdout.split('\n')[0],
    '{"event_type":"DeployStarted","project":"shop","event":"DeployStarted","app":"shop","instance":"prod-1","version":"v1.3.0","deploy_id":"a1b2c3d4","channel":"discord","result":"delivered","messages":1}',
  );
  assert.equal(
    chats.hook.messages.map(({ payload }) => payload),
    [
      discordPayload('🚀 Deploy started', 'v1.3.0', { color: 0x3498db }),
      discordPayload('✅ Deploy completed', 'v1.3.0', {
        color: 0x2ecc71,
        fields: [inline('Duration', '1 m 05 s')],
      }),
      discordPayload('❌ Deploy failed', 'v1.3.0', {
        color: 0xe74c3c,
        description: '```\nhealth: answered 500\n[api] *boom* `x` \\\n```',
        fields: [{ name: 'Rollback', value: 'stayed on `v1.2.9`', inline: false }],
      }),
      discordPayload('↩️ Rollback', 'v1.2.9', {
        color: 0xf39c12,
        fields: [
          inline('From', 'v1.3.0'),
          inline('To', 'v1.2.9'),
          { name: 'Reason', value: '`health: answered 500`', inline: false },
        ],
      }),
    ],
  );
  assert.ok(chats.hook.messages.every(({ waited }) => waited));
});

test('a long error makes two messages in each channel, the second with the whole log', async () => {
  const error = `build: \`make\` exited with status 2\n${'compiling\n'.repeat(90)}a.c:1:1: error: no such thing`;
  const ended = await chats.send([event('DeployFailure', { error })], ['--json']);
  const results = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    results.map(({ channel, messages }) => [channel, messages]),
    [
      ['telegram', 2],
      ['discord', 2],
    ],
  );
  const [first, second] = chats.bot.messages.map(({ text }) => text) as [string, string];
  assert.match(
    first,
    /Rollback: no previous version on record\n[\s\S]*a\.c:1:1: error: no such thing/,
  );
  assert.is(
    second,
    `📄 Full error log\nProject: shop\nInstance: prod-1\nDeploy: a1b2c3d4\n${error}`,
  );
  const [, log] = chats.hook.messages;
  assert.is(log?.embeds[0]?.description, `\`\`\`\n${error}\n\`\`\``);
});

test('with verbose_errors false the second message is left out', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['verbose_errors: false']));
  await chats.send([event('DeployFailure', { error: 'x\n'.repeat(900) })]);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [1, 1]);
});

test('a rollback of the only instance does not name it', async () => {
  await chats.send([event('RollbackSuccess', { ...ROLLBACK, instance: undefined })]);
  assert.is(
    chats.bot.messages[0]?.text,
    '↩️ Rollback\nProject: shop\nFrom: v1.3.0\nTo: v1.2.9\nReason: health: answered 500\nDeploy: a1b2c3d4',
  );
});

test('a failure after the switch names the version that is active again', async () => {
  await chats.send([event('DeployFailure', { ...FAILURE, rolled_back: true })]);
  assert.match(chats.bot.messages[0]?.text ?? '', /\nRollback: rolled back to v1\.2\.9\n/);
});

test('a rollback that failed too is reported', async () => {
  const fields = { ...FAILURE, rolled_back: false, reason: 'start: exited with status 1' };
  await chats.send([event('DeployFailure', fields)]);
  assert.match(
    chats.bot.messages[0]?.text ?? '',
    /\nRollback: failed, v1\.2\.9 is not active again: start: exited with status 1\n/,
  );
});

test('a topic gets its messages when telegram_thread_id is set', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 't', ['telegram_thread_id: 7']));
  await chats.send([event('DeployStarted')]);
  assert.is(chats.bot.messages[0]?.thread_id, 7);
});

test('templates replace the text of the first message', async () => {
  chats.configure(
    configOf(chats.bot, chats.hook, 'td', [
      'templates:',
      '  success: { telegram: "*${PROJECT}* is ${VERSION}", discord: "**${PROJECT}** is ${VERSION}" }',
    ]),
  );
  await chats.send([event('DeploySuccess')]);
  assert.is(chats.bot.messages[0]?.text, 'shop is v1.3.0\nDeploy: a1b2c3d4');
  assert.is(chats.hook.messages[0]?.embeds[0]?.description, '**shop** is v1\\.3\\.0');
});

test('a template that Telegram cannot parse is sent as plain text, and stderr says so', async () => {
  chats.configure(
    configOf(chats.bot, chats.hook, 't', [
      'templates: { success: { telegram: "Oh. ${VERSION}" } }',
    ]),
  );
  const ended = await chats.send([event('DeploySuccess')], ['--json']);
  assert.is(JSON.parse(ended.stdout).degraded, 'markup');
  assert.is(
    ended.stderr,
    'runner notify send: telegram: the markup was refused, the message was sent as plain text\n',
  );
  assert.is(chats.bot.messages[0]?.text, 'Oh. v1.3.0\nDeploy: a1b2c3d4');
});

test('a group that has become a supergroup is followed, for later records too, and stderr says so', async () => {
  const moved = -1009876543210;
  chats.bot.chats[0] = { id: CHAT_ID, type: 'group', migratedTo: moved };
  chats.bot.chats.push({ id: moved, type: 'supergroup' });
  chats.configure(configOf(chats.bot, chats.hook, 't'));
  const ended = await chats.send([event('DeployStarted'), event('DeploySuccess')], ['--json']);
  assert.equal(
    chats.bot.messages.map(({ chat_id }) => chat_id),
    [moved, moved],
  );
  assert.is(chats.bot.requests.length, 3);
  assert.is(JSON.parse(ended.stdout.split('\n')[0] ?? '').moved_to, String(moved));
  assert.is(
    ended.stderr,
    `runner notify send: telegram: the group has become a supergroup: telegram_chat_id is now ${moved}\n`,
  );
  assert.is(
    readFileSync(join(chats.root, 'config.yml'), 'utf8'),
    configOf(chats.bot, chats.hook, 't').replace(String(CHAT_ID), `"${moved}"`),
  );
  await chats.send([event('DeployStarted')], ['--wait', '2']);
  assert.is(chats.bot.requests.length, 4);
});

test('a deploy that migrated the database, and a rollback that restored it, say so', async () => {
  const reasons = { migration: 'broken', migration_reasons: ['removes column orders.note'] };
  await chats.send(
    [
      event('DeploySuccess', reasons),
      event('RollbackSuccess', { ...ROLLBACK, database_backup: '3f9c2d7e' }),
    ],
    ['--channel', 'telegram'],
  );
  const texts = chats.bot.messages.map(({ payload }) => String((payload as { text: string }).text));
  assert.match(
    String(texts[0]),
    /\*Version:\* `v1\.3\.0`\n\*Database:\* changed, a version from before does not work with it\n/,
  );
  assert.match(String(texts[1]), /\n\*Database:\* restored from the backup 3f9c2d7e\n/);
});

test.run();
