import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, Secret } from '@runner/common/secrets/secret';
import { refusals as hookRefusals } from '@runner/testing/discord-refusals';
import { run, shellWord } from '@runner/testing/run';
import { runOnTerminal } from '@runner/testing/terminal';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID, chats, chatsSuite, configOf, event } from './chats.ts';
import { status } from './status.ts';

const test = chatsSuite();

for (const [what, prepare, words] of [
  ['a revoked token', () => chats.bot.revoke(), '✘ Telegram: Unauthorized (getMe, 401)'],
  [
    'an unknown chat',
    () => chats.bot.chats.splice(0),
    '✘ Telegram: Bad Request: chat not found (getChat, 400)',
  ],
  [
    'a group without the bot',
    () => chats.bot.chats.splice(0, 1, { id: CHAT_ID, type: 'supergroup', bot: 'restricted' }),
    '✘ Telegram: the bot cannot post there',
  ],
  [
    'a deleted webhook',
    () => chats.hook.remove(),
    '✘ Discord: Unknown Webhook (GET webhook, 10015)',
  ],
  ['no network', () => chats.hook.fail('drop', 9), '✘ Discord: the connection was dropped'],
] as const) {
  test(`${what} makes the status 1, with what to check`, async () => {
    prepare();
    const ended = await status();
    assert.is(ended.status, 1);
    assert.ok(ended.stdout.includes(words), ended.stdout);
    assert.match(ended.stdout, / {2}→ /);
    const report = JSON.parse((await status(['--json'])).stdout);
    assert.is(report.healthy, false);
  });
}

test('a channel that is not named says what is wrong with it, and the status is good', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['channel: telegram']));
  chats.hook.fail(hookRefusals.unknownWebhook);
  const ended = await status();
  assert.equal([ended.status, ended.stderr], [0, '']);
  const words = '– Discord: configured, but notify.channel does not include it; Unknown Webhook';
  assert.match(ended.stdout, words);
});

test('the result on the commit has a row where it is on', async () => {
  chats.configure('notify: {commit_status: true}\n');
  const ended = await status();
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.match(
    ended.stdout,
    /^• Code host: commit_status is on\n {2}queue {7}0 waiting, 0 given up\n\n/,
  );
  const { commit_status: row } = JSON.parse((await status(['--json'])).stdout);
  assert.equal([row.enabled, row.queued, row.last_success], [true, 0, null]);
});

test('half of the credentials of Telegram is reported', async () => {
  chats.configure(`notify:\n  telegram_bot_token: "${BOT_TOKEN}"\n`);
  const ended = await status();
  assert.match(
    ended.stdout,
    /^– Telegram: not active: telegram_chat_id is missing\n {2}token {7}123456789:…otte\n/,
  );
});

test('a webhook at a host that is not of Discord is named', async () => {
  chats.configure(
    'notify:\n  discord_webhook: https://relay.invalid/api/webhooks/12345/abcdefgh\n',
  );
  const { channels } = JSON.parse((await status(['--json'])).stdout);
  const discord = channels.find(({ channel }: { channel: string }) => channel === 'discord');
  assert.equal([discord.active, discord.advice], [true, ["relay.invalid is not Discord's host"]]);
});

test('a wrong template is reported by name', async () => {
  chats.configure(
    configOf(chats.bot, chats.hook, 'td', ['templates: {success: {telegram: "${VERSIN}"}}']),
  );
  const ended = await status();
  assert.is(ended.status, 0);
  assert.match(ended.stdout, /^✔ .*Telegram/);
  assert.match(
    ended.stderr,
    /^runner notify status: .*: notify\.templates\.success\.telegram: the template has the unknown variable \$\{VERSIN\} .*; the built-in text is sent\n$/,
  );
});

test('what waits, what was given up and what happened last is read from the spool', async () => {
  const folder = join(chats.root, 'spool', 'notify');
  mkdirSync(join(folder, 'dead'), { recursive: true });
  for (const name of [
    'abcdefghi-0001.discord.json',
    'abcdefghi-0002.discord.json',
    'dead/abcdefghi-0003.discord.json',
    'abcdefghi-0004.telegram.json',
  ])
    writeFileSync(join(folder, name), '{}');
  writeFileSync(join(folder, 'telegram.json'), 'torn {');
  const until = Date.now() + 60_000;
  writeFileSync(
    join(folder, 'discord.json'),
    JSON.stringify({
      version: 1,
      destination: digestOf(new Secret(chats.hook.webhook)),
      until,
      stopped: null,
      last_success: '2026-05-04T09:30:00.000Z',
      last_error: {
        at: '2026-05-04T10:00:00.000Z',
        method: 'POST webhook',
        http_status: 404,
        code: 10015,
        description: 'Unknown Webhook',
        retryable: false,
      },
    }),
  );
  const report = JSON.parse((await status(['--offline', '--json'])).stdout);
  const [telegram, discord] = report.channels;
  assert.equal([telegram.queued, telegram.dead, telegram.last_success], [1, 0, null]);
  assert.equal(
    [discord.queued, discord.dead, discord.waits_until],
    [2, 1, new Date(until).toISOString()],
  );
  assert.is(discord.last_error.description, 'Unknown Webhook');
  const { stdout } = await status(['--offline']);
  assert.match(stdout, / {2}queue {7}2 waiting, 1 given up, asked to wait until /);
  assert.match(
    stdout,
    / {2}delivered {3}2026-05-04T09:30:00\.000Z\n {2}last error {2}2026-05-04T10:00:00\.000Z Unknown Webhook \(POST webhook, 10015\)\n/,
  );
});

test('what send met is reported until a test notification arrives', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'd'));
  await chats.send([event('DeployStarted')]);
  chats.hook.fail(hookRefusals.unknownWebhook);
  await chats.send([event('DeploySuccess')]);
  const stopped = await status(['--json']);
  assert.is(stopped.status, 1);
  const [, before] = JSON.parse(stopped.stdout).channels;
  assert.equal([before.stopped, before.healthy, before.dead, before.queued], [true, true, 1, 0]);
  assert.equal([before.last_error.code, before.last_error.http_status], [10015, 404]);
  assert.ok(before.last_success);
  await run('runner-notify', ['test'], { root: chats.root });
  const after = await status(['--json']);
  assert.equal([after.status, JSON.parse(after.stdout).channels[1].stopped], [0, false]);
});

test('after a refused token status names setup, with the service and without it', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 't'));
  chats.bot.revoke();
  await chats.send([event('DeployStarted')]);
  for (const args of [[], ['--offline']]) {
    const { stdout } = await status(args);
    assert.match(stdout, '→ `runner notify setup --channel telegram` sets another');
  }
  assert.match((await status(['--offline'])).stdout, 'stopped: the service refused the token\n');
  const [telegram] = JSON.parse((await status(['--offline', '--json'])).stdout).channels;
  assert.match(telegram.advice.join(), 'runner notify setup --channel telegram');
});

test('a channel that was stopped is unhealthy, until its credentials are others', async () => {
  const folder = join(chats.root, 'spool', 'notify');
  mkdirSync(folder, { recursive: true });
  const destination = digestOf(new Secret(chats.hook.webhook));
  writeFileSync(
    join(folder, 'discord.json'),
    JSON.stringify({
      version: 1,
      destination,
      stopped: { at: '2026-05-04T09:30:00.000Z', problem: { description: 'Unknown Webhook' } },
    }),
  );
  const stopped = await status(['--offline']);
  assert.is(stopped.status, 1);
  assert.match(
    stopped.stdout,
    /✘ Discord: stopped: the service refused the address\n(?:.*\n)* {2}→ `runner notify setup --channel discord` sets another; if it is accepted again, `runner notify test` restarts the channel\n/,
  );
  chats.configure(configOf(chats.bot, { ...chats.hook, webhook: `${chats.hook.webhook}x` }));
  assert.is((await status(['--offline'])).status, 0);
});

test('a state file that another program has filled with anything stops nobody', async () => {
  const folder = join(chats.root, 'spool', 'notify');
  mkdirSync(folder, { recursive: true });
  const destination = digestOf(new Secret(chats.hook.webhook));
  const wild = {
    until: 1e300,
    sent: ['x', null],
    last_success: 'x',
    last_error: { description: 7 },
  };
  writeFileSync(
    join(folder, 'discord.json'),
    JSON.stringify({ version: 1, destination, trouble: 3, rest: [], stopped: 'x', ...wild }),
  );
  const ended = await status(['--offline', '--json']);
  assert.equal([ended.status, ended.stderr], [0, '']);
  const [, discord] = JSON.parse(ended.stdout).channels;
  assert.equal([discord.waits_until, discord.last_success, discord.stopped], [null, null, false]);
  assert.is((await chats.send([event('DeployStarted')], ['--channel', 'discord'])).status, 0);
  assert.is(chats.hook.messages.length, 1);
});

test('a test notification shows in status: when it arrived, or what went wrong', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 'd'));
  const known = async () => JSON.parse((await status(['--offline', '--json'])).stdout).channels[1];
  chats.hook.fail(hookRefusals.internal);
  await run('runner-notify', ['test'], { root: chats.root });
  const failed = await known();
  assert.equal([failed.last_success, failed.last_error.http_status], [null, 500]);
  await run('runner-notify', ['test'], { root: chats.root });
  const arrived = await known();
  assert.ok(Date.parse(arrived.last_success) >= Date.parse(failed.last_error.at));
  assert.is(arrived.last_error.http_status, 500);
});

test('secrets that others may read are reported by status, send and test, with the command that fixes it', async () => {
  const config = join(chats.root, 'config.yml');
  chmodSync(config, 0o644);
  const words = `others may read the secrets in ${config}: run chmod 600 ${shellWord(config)}`;
  assert.is((await status(['--offline'])).stderr, `runner notify status: ${words}\n`);
  const records = [event('DeployStarted'), event('DeploySuccess')];
  assert.is((await chats.send(records)).stderr, `runner notify send: ${words}\n`);
  const tested = await run('runner-notify', ['test'], { root: chats.root });
  assert.is(tested.stderr, `runner notify test: ${words}\n`);
});

test('colours show on a terminal, and not with NO_COLOR', async () => {
  for (const env of [{}, { NO_COLOR: '1' }] as Record<string, string>[]) {
    const options = { root: chats.root, columns: 240, env };
    const { text } = await runOnTerminal('runner-notify', ['status'], options);
    assert.is(text.includes('\x1b[32m✔'), env.NO_COLOR === undefined);
  }
});

test.run();
