import { type RunOptions, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import { startOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHAT_ID, type Chats, configOf, event, startChats } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
});
test.after.each(() => chats.close());

const preview = (args: readonly string[] = [], options: RunOptions = {}) =>
  run('runner-notify', ['preview', ...args], { root: chats.root, ...options });

const records = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a preview of records is exactly what send sends', async () => {
  const lines = [
    event('DeployStarted'),
    event('DeployFailure', { error: 'boom *x*\n'.repeat(200), previous_version: 'v1' }),
  ];
  chats.configure(configOf(chats.bot, chats.hook, 'td', ['telegram_thread_id: 7']));
  const before = tree(chats.root);
  const stdin = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const shown = records((await preview(['--json'], { stdin })).stdout);
  assert.equal(tree(chats.root), before);
  assert.equal([chats.bot.requests.length, chats.hook.requests.length], [0, 0]);
  await chats.send(lines);
  for (const [channel, sent] of [
    ['telegram', chats.bot.messages],
    ['discord', chats.hook.messages],
  ] as const) {
    const payloads = shown.filter((each) => each.channel === channel).map((each) => each.payload);
    assert.is(payloads.length, 3);
    assert.equal(
      payloads,
      sent.map(({ payload }) => payload),
    );
  }
});

test('without records it shows a sample of every kind, and the long failure in two parts', async () => {
  const shown = records((await preview(['--json'])).stdout);
  assert.equal(
    shown
      .filter(({ channel }) => channel === 'telegram')
      .map((each) => `${each.event_type} ${each.part}/${each.parts}`),
    [
      'DeployStarted 1/1',
      'DeploySuccess 1/1',
      'DeployFailure 1/1',
      'DeployFailure 1/2',
      'DeployFailure 2/2',
      'RollbackSuccess 1/1',
      'DeployFailure 1/1',
      'CheckRecovered 1/1',
      'ApprovalWanted 1/1',
      'PlanApproved 1/1',
      'PlanExpired 1/1',
      'AppDown 1/1',
      'AppUp 1/1',
      'TokenEnding 1/1',
      'JobFailed 1/1',
      'JobRecovered 1/1',
      'JobMissed 1/1',
      'JobSlow 1/1',
      'CertEnding 1/1',
      'HeadBehind 1/1',
      'TagChanged 1/1',
      'TokenRenewed 1/1',
      'WatchPassed 1/1',
      'WatchFailed 1/1',
      'WatchEnded 1/1',
    ],
  );
  assert.is(shown.length, 50);
  const text = JSON.stringify(shown);
  for (const words of [
    'not tried again until the next push',
    'expires in 7 days',
    'run: runner start shop',
  ])
    assert.match(text, words);
  const ofDeploys = shown.filter(({ event_type: kind }) => /^Deploy|^Rollback/.test(kind));
  assert.is(new Set(ofDeploys.map(({ deploy_id }) => deploy_id)).size, 1);
  assert.is(shown[0].payload.chat_id, String(CHAT_ID));
});

test('on a terminal it shows the samples without waiting for input', async () => {
  const session = startOnTerminal('runner-notify', ['preview', '--channel', 'discord'], {
    root: chats.root,
    columns: 240,
  });
  assert.is((await session.done).status, 0);
  assert.match(
    session.text(),
    /discord POST webhook: DeployStarted \[[0-9a-f]{8}\]\r\n\{\r\n {2}"content"/,
  );
});

test('no credentials are needed, and the channel is chosen by --channel', async () => {
  chats.configure('');
  assert.is(records((await preview(['--json'])).stdout).length, 6 * 25 - 1);
  const shown = records((await preview(['--json', '--channel', 'telegram'])).stdout);
  assert.equal([...new Set(shown.map(({ channel }) => channel))], ['telegram']);
  assert.is(shown[0].payload.chat_id, undefined);
});

test('templates are used, and a wrong one is reported by name', async () => {
  chats.configure(
    configOf(chats.bot, chats.hook, 't', ['templates: {started: {telegram: "go ${PROJECT}"}}']),
  );
  const [first] = records((await preview(['--json'])).stdout);
  assert.match(first.payload.text, /^go shop\n/);
  chats.configure(
    configOf(chats.bot, chats.hook, 't', ['templates: {started: {telegram: "${project}"}}']),
  );
  const ended = await preview();
  assert.equal([ended.status, ended.stdout], [1, '']);
  assert.match(
    ended.stderr,
    /notify\.templates\.started\.telegram: the template has the unknown variable \$\{project\} .*\(config_invalid\)\n$/,
  );
});

test('a line that is not a record is reported by number, and the status is 1', async () => {
  const stdin = `nonsense\n${JSON.stringify(event('DeployStarted'))}\n`;
  const ended = await preview(['--channel', 'telegram'], { stdin });
  assert.is(ended.status, 1);
  assert.is(ended.stderr, 'runner notify preview: line 1: it is not a JSON object\n');
  assert.match(ended.stdout, /^telegram sendMessage: DeployStarted \[a1b2c3d4\]\n\{\n/);
});

test('a secret in a record shows nowhere', async () => {
  const secret = chats.hook.token;
  const stdin = `${JSON.stringify(event('DeployFailure', { error: `curl ${chats.hook.webhook} failed` }))}\n`;
  for (const format of ['human', 'json', 'yaml']) {
    const { stdout } = await preview(['-o', format], { stdin });
    assert.ok(stdout.includes('[REDACTED]'));
    assert.equal(findSecret(stdout, secret), []);
  }
});

test('records that are all of other kinds are no reason to show samples', async () => {
  const ended = await preview([], { stdin: '{"event":"GuardBypassed","app":"shop"}\n' });
  assert.equal([ended.status, ended.stdout, ended.stderr], [0, '', '']);
});

test.run();
