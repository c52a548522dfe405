import * as assert from 'uvu/assert';
import { CHAT_ID, chats, chatsSuite, configOf, event } from './chats.ts';
import { FAILURE, ROLLBACK } from './send-messages.ts';

const test = chatsSuite();

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

test.run();
