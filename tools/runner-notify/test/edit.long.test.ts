/** `notify.edit: true`: one message a deploy, edited in place; failures also reply. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Chats, configOf, event, startChats } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
  chats.configure(configOf(chats.bot, chats.hook, 'd', ['edit: true']));
});
test.after.each(() => chats.close());

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const of = (kind: string, deploy_id: string, fields: object = {}) =>
  event(kind, { deploy_id, commit: COMMIT, previous_version: 'v1.2.9', ...fields });

/** The first lines of the messages in the two chats. */
const telegram = () => chats.bot.messages.map(({ text }) => text.split('\n')[0]);
const discord = () => chats.hook.messages.map(({ content }) => content.split(':')[0]);

const sendAll = async (...records: unknown[]) => {
  for (const record of records) {
    const ended = await chats.send([record], ['--json', '--wait', '30']);
    assert.equal([ended.status, ended.stderr], [0, '']);
  }
};

test('a start and its success are one message', async () => {
  await sendAll(
    of('DeployStarted', 'aaaaaaa1'),
    of('DeploySuccess', 'aaaaaaa1', { duration_ms: 5 }),
  );
  assert.equal(discord(), ['✅ Deploy completed']);
  assert.is(chats.hook.edits.length, 1);
});

test('without notify.edit they are two messages, as are a start and its failure', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td'));
  await sendAll(
    of('DeployStarted', 'aaaaaaa1'),
    of('DeploySuccess', 'aaaaaaa1'),
    of('DeployStarted', 'aaaaaaa2'),
    of('DeployFailure', 'aaaaaaa2', { error: 'boom' }),
  );
  const shown = [
    '🚀 Deploy started',
    '✅ Deploy completed',
    '🚀 Deploy started',
    '❌ Deploy failed',
  ];
  assert.equal([telegram(), discord()], [shown, shown]);
});

test('instances that roll back one by one do not overwrite each other, not even when sent again', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['edit: true']));
  const back = (instance: string) =>
    of('RollbackSuccess', 'aaaaaaa1', { instance, version: 'v1.2.9', from_version: 'v1.3.0' });
  await sendAll(
    of('DeployStarted', 'aaaaaaa1', { instance: 'a,b' }),
    of('DeployFailure', 'aaaaaaa1', { instance: 'a,b', error: 'boom' }),
    back('a'),
    back('b'),
    // A killed command announces its last event again.
    back('b'),
    // The next attempt of the commit has the first message.
    of('DeployStarted', 'aaaaaaa2', { instance: 'a,b' }),
  );
  const shown = ['🚀 Deploy started', '❌ Deploy failed', '↩️ Rollback'];
  assert.equal([telegram(), discord()], [shown, shown]);
  assert.match(chats.bot.messages[2]?.text ?? '', 'Instance: b\n');
});

test('instances that roll back together are one message that names them', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['edit: true']));
  const [start, end] = ['DeployStarted', 'DeployFailure'].map((kind) => (instance: string) => {
    const fields = { instance, instances: ['a', 'b', 'c'], error: 'boom' };
    return of(kind, 'aaaaaaa1', fields);
  }) as [(instance: string) => object, (instance: string) => object];
  const back = (instance: string, instances: readonly string[], version: string) =>
    of('RollbackSuccess', 'aaaaaaa1', { instance, instances, version, from_version: 'v1.3.0' });
  const records = [
    ...['a', 'b', 'c'].map(start),
    ...['a', 'b', 'c'].map(end),
    back('a', ['a', 'b'], 'v1.2.9'),
    back('b', ['a', 'b'], 'v1.2.9'),
  ];
  assert.is((await chats.send(records, ['--json', '--wait', '30'])).status, 0);
  const shown = ['↩️ Rollback', '❌ Deploy failed'];
  assert.equal([telegram(), discord()], [shown, shown]);
  assert.match(chats.bot.messages[0]?.text ?? '', 'Instance: a,b\n');
  // One that went back to another version does not overwrite them.
  await sendAll(back('c', ['c'], 'v1.2.8'));
  assert.equal(telegram(), [...shown, '↩️ Rollback']);
});

test('a start, its failure and its rollback are two: the edited one, and a reply with error and log', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['edit: true']));
  const error = `Error: boom\n${'at line\n'.repeat(300)}`;
  await sendAll(
    of('DeployStarted', 'aaaaaaa1'),
    of('DeployFailure', 'aaaaaaa1', { error, cause: 'Error: boom' }),
    of('RollbackSuccess', 'aaaaaaa1', { version: 'v1.2.9', from_version: 'v1.3.0' }),
  );
  assert.equal(telegram(), ['↩️ Rollback', '❌ Deploy failed']);
  assert.equal(discord(), ['↩️ Rollback', '❌ Deploy failed']);
  const [first, reply] = chats.bot.messages;
  assert.equal(reply?.payload.reply_parameters, {
    message_id: first?.message_id,
    allow_sending_without_reply: true,
  });
  for (const text of [reply?.text ?? '', JSON.stringify(chats.hook.messages[1]?.payload)]) {
    assert.match(text, 'Error: boom');
    assert.match(text, '--- full error log ---');
  }
  assert.not.match(JSON.stringify(first?.payload), 'boom');
});

test('attempts of one commit share a message; each failure replies', async () => {
  const error = 'boom';
  await sendAll(
    of('DeployStarted', 'aaaaaaa1'),
    of('DeployFailure', 'aaaaaaa1', { error }),
    of('DeployStarted', 'aaaaaaa2'),
    of('DeployFailure', 'aaaaaaa2', { error }),
    of('DeployStarted', 'aaaaaaa3'),
    of('DeploySuccess', 'aaaaaaa3'),
    // After its success the commit begins a new message.
    of('DeployStarted', 'aaaaaaa4'),
  );
  const shown = [
    '✅ Deploy completed',
    '❌ Deploy failed',
    '❌ Deploy failed',
    '🚀 Deploy started',
  ];
  assert.equal(discord(), shown);
  assert.match(JSON.stringify(chats.hook.messages[0]?.payload), 'aaaaaaa3');
});

test('deploys of other commits and apps have messages of their own', async () => {
  await sendAll(
    of('DeployStarted', 'aaaaaaa1'),
    of('DeployStarted', 'aaaaaaa2', { commit: COMMIT.replace('0', 'f') }),
    of('DeployStarted', 'aaaaaaa1', { project: 'blog' }),
    of('DeploySuccess', 'aaaaaaa1'),
  );
  assert.equal(discord(), ['✅ Deploy completed', '🚀 Deploy started', '🚀 Deploy started']);
});

test('a message that was deleted, or never sent, is sent as a new one', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['edit: true']));
  await sendAll(of('DeployStarted', 'aaaaaaa1'));
  chats.bot.messages.splice(0);
  chats.hook.messages.splice(0);
  await sendAll(of('DeploySuccess', 'aaaaaaa1'), of('DeploySuccess', 'aaaaaaa9'));
  assert.equal(telegram(), ['✅ Deploy completed', '✅ Deploy completed']);
  assert.equal(discord(), ['✅ Deploy completed', '✅ Deploy completed']);
});

test('a failure without a start is one message with its error', async () => {
  await sendAll(of('DeployFailure', 'aaaaaaa1', { error: 'boom' }));
  assert.equal(discord(), ['❌ Deploy failed']);
  assert.match(JSON.stringify(chats.hook.messages[0]?.payload), 'boom');
});

test('an alert is edited when it is over', async () => {
  const alert = (kind: string, fields: object = {}) =>
    event(kind, { deploy_id: null, reason: 'because', ...fields });
  await sendAll(
    alert('AppDown'),
    alert('AppUp'),
    of('DeployFailure', 'aaaaaaa1', { stage: 'fetch', error: 'no route', commit: undefined }),
    alert('CheckRecovered'),
    alert('TokenEnding'),
    alert('TokenEnding'),
    alert('TokenRenewed'),
  );
  const shown = ['🔺 App up again', '✅ Checks work again', '⏳ Token ending', '🔑 Token renewed'];
  assert.equal(discord(), shown);
});

test('a process that was killed after the answer sends nothing twice', async () => {
  await sendAll(of('DeployStarted', 'aaaaaaa1'));
  // As the kill leaves it: the answer is in the state, the entry still in the queue.
  const path = join(chats.root, 'spool/notify/discord.json');
  const state = JSON.parse(readFileSync(path, 'utf8')) as { done: string[] };
  const name = state.done.at(-1)?.replace(/#0$/, '') as string;
  const entry = {
    version: 1,
    channel: 'discord',
    event: of('DeployStarted', 'aaaaaaa1'),
    queued_at: new Date().toISOString(),
    attempting: new Date().toISOString(),
  };
  writeFileSync(join(chats.root, 'spool/notify', name), JSON.stringify(entry));
  await sendAll(of('DeploySuccess', 'aaaaaaa1'));
  assert.equal(discord(), ['✅ Deploy completed']);
  assert.is(chats.hook.requests.length, 2);
});

test('channels that cannot edit send each message', async () => {
  const { slack } = chats;
  chats.configure(`notify: { edit: true, slack: { webhook: "${slack.webhook}" } }\n`);
  rmSync(join(chats.root, 'spool'), { recursive: true, force: true });
  await sendAll(of('DeployStarted', 'aaaaaaa1'), of('DeploySuccess', 'aaaaaaa1'));
  assert.equal(
    slack.messages.map(({ shown }) => shown.split('\n')[0]),
    ['🚀 *Deploy started*', '✅ *Deploy completed*'],
  );
});

test.run();
