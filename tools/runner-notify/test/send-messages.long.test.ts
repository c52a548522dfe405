import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { CHAT_ID, chats, chatsSuite, configOf, event } from './chats.ts';
import { FAILURE, ROLLBACK } from './send-messages.ts';

const test = chatsSuite();

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
