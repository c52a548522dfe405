import { findSecret } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { CHAT_ID, chats, chatsSuite, configOf, event } from './chats.ts';
import { preview, records } from './preview-command.ts';

const test = chatsSuite();

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
      'DeployWaiting 1/1',
      'HeadBehind 1/1',
      'TagChanged 1/1',
      'TokenRenewed 1/1',
      'WatchPassed 1/1',
      'WatchFailed 1/1',
      'WatchEnded 1/1',
    ],
  );
  assert.is(shown.length, 52);
  const text = JSON.stringify(shown);
  for (const words of [
    'not tried again until the next push',
    'expires in 7 days',
    'run: runner start shop',
  ])
    assert.match(text, words);
  const ofDeploys = shown.filter(({ event_type: kind }) =>
    /^Deploy(?!Waiting)|^Rollback/.test(kind),
  );
  assert.is(new Set(ofDeploys.map(({ deploy_id }) => deploy_id)).size, 1);
  assert.is(shown[0].payload.chat_id, String(CHAT_ID));
});

test('what to type at the end of a long reason is not cut', async () => {
  const end = 'then runner edit <APP> --token-from customer-portal-billing-api';
  const reason = `the token of ${'customer-portal-billing-api, '.repeat(10)}\`\` expires: ${end}`;
  const stdin = `${JSON.stringify(event('TokenEnding', { reason, deploy_id: null }))}\n`;
  const { stdout } = await preview(['--channel', 'both', '--json'], { stdin });
  const [telegram, discord] = records(stdout);
  assert.match(JSON.stringify(telegram.payload), end);
  assert.match(discord.payload.embeds[0].fields.at(-1).value, end);
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

test.run();
