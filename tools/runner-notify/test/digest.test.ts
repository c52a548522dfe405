/** `runner notify digest`, by the built executable. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, configOf, event } from './chats.ts';

const test = chatsSuite();

const digest = (args: readonly string[] = []) =>
  run('runner-notify', ['digest', ...args], { root: chats.root });

/** Two deploys of shop, of which one failed, an hour ago, and one of long ago. */
function writeLog(secret = 'boom') {
  const at = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const of = (kind: string, deploy_id: string, hours: number, fields: object = {}) =>
    event(kind, { deploy_id, timestamp: at(hours), ...fields });
  const lines = [
    of('DeployStarted', 'aaaaaaa0', 900),
    of('DeploySuccess', 'aaaaaaa0', 900),
    of('DeployStarted', 'aaaaaaa1', 3),
    of('DeployFailure', 'aaaaaaa1', 2, {
      stage: 'build',
      error: `error: ${secret}`,
      cause: `error: ${secret}`,
    }),
    of('DeployStarted', 'aaaaaaa3', 3),
    of('DeployFailure', 'aaaaaaa3', 2, { stage: 'build', error: 'stopped', interrupted: true }),
    of('DeployStarted', 'aaaaaaa4', 2),
    of('DeployStarted', 'aaaaaaa2', 1),
    of('DeploySuccess', 'aaaaaaa2', 1),
  ];
  mkdirSync(join(chats.root, 'logs'), { recursive: true });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(chats.root, 'logs/deploy-events.jsonl'), text);
}

function writeState() {
  mkdirSync(join(chats.root, 'state'), { recursive: true });
  const state = {
    version: 1,
    app: 'shop',
    repo: 'o/r',
    branch: 'main',
    state: {},
    instances: { default: {} },
    reported: { down: ['default'] },
  };
  writeFileSync(join(chats.root, 'state/shop.json'), JSON.stringify(state));
}

test('one message in each channel has the deploys, failures, causes and what needs attention', async () => {
  writeLog();
  writeState();
  const ended = await digest(['--json']);
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [1, 1]);
  const since = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  assert.is(
    chats.bot.messages[0]?.text,
    [
      '📊 Digest',
      `Since: ${since}`,
      '4 deploys, 1 failed, 2 did not end',
      '  shop: 4, 1 failed, 2 did not end',
      '',
      'Causes:',
      '  shop: error: boom',
      '',
      'Needs attention:',
      '  shop: down (default)',
    ].join('\n'),
  );
});

test('--since reaches further back, and --dry-run sends nothing', async () => {
  writeLog();
  const { stdout } = await digest(['--since', '60d', '--dry-run', '--json']);
  assert.match(stdout, '5 deploys, 1 failed, 2 did not end');
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [0, 0]);
});

test('--dry-run without a channel prints the message of each, as preview does', async () => {
  chats.configure('{}\n');
  writeLog();
  const { status, stdout, stderr } = await digest(['--dry-run', '--json']);
  assert.equal([status, stderr], [0, '']);
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    results.map(({ channel, result }) => `${channel} ${result}`),
    ['telegram', 'discord', 'slack', 'ntfy', 'email', 'webhook'].map((name) => `${name} dry_run`),
  );
  for (const { payloads } of results) assert.match(JSON.stringify(payloads), '4 deploys, 1 failed');
  const one = await digest(['--dry-run', '--channel', 'discord']);
  assert.match(one.stdout, /^would send {2}discord .*\n\{.*4 deploys, 1 failed.*\}\n$/);
  assert.match((await digest(['--json'])).stdout, '"reason":"not_configured"');
});

test('the timer sends it only where notify.digest is true', async () => {
  writeLog();
  assert.is((await digest(['--scheduled'])).status, 0);
  assert.is(chats.hook.messages.length, 0);
  chats.configure(configOf(chats.bot, chats.hook, 'd', ['digest: true']));
  assert.is((await digest(['--scheduled'])).status, 0);
  assert.is(chats.hook.messages.length, 1);
});

test('without a log and apps it says that nothing happened; a secret in a cause is redacted', async () => {
  assert.match((await digest(['--dry-run'])).stdout, '0 deploys, 0 failed');
  writeLog(chats.hook.token);
  const { stdout } = await digest(['--dry-run']);
  assert.match(stdout, '[REDACTED]');
  assert.not.match(stdout, chats.hook.token);
});

test('a digest that cannot be queued is a failure', async () => {
  mkdirSync(join(chats.root, 'spool'));
  writeFileSync(join(chats.root, 'spool/notify'), '');
  chats.hook.fail('html', 9);
  const { status, stderr } = await digest(['--channel', 'discord']);
  assert.is(status, 1);
  assert.match(stderr, 'discord: Digest of all apps cannot be queued');
});

test('a time in the future is wrong usage', async () => {
  const { status, stderr } = await digest(['--since', '2199-01-01']);
  assert.is(status, 2);
  assert.match(stderr, "invalid value '2199-01-01' for '--since <TIME>'");
});

test.run();
