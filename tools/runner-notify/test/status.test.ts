import * as assert from 'uvu/assert';
import { CHAT_ID, chats, chatsSuite, configOf } from './chats.ts';
import { status } from './status.ts';

const test = chatsSuite();

const webhookId = () => chats.hook.webhook.split('/').at(-2) as string;

test('both channels are shown with what the services say, and no message is sent', async () => {
  chats.configure(
    configOf(chats.bot, chats.hook, 'td', [
      'telegram_thread_id: 7',
      'templates: {started: {discord: "${PROJECT}"}}',
    ]),
  );
  const ended = await status();
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.is(
    ended.stdout.replace(/channel \d+/, 'channel 9'),
    [
      '✔ Telegram: active',
      '  token       123456789:…otte',
      '  bot         @runner_bot, privacy mode on',
      `  chat        ${CHAT_ID} Deploys (supergroup), topic 7`,
      '  rights      member, may post',
      '  queue       0 waiting, 0 given up',
      '',
      '✔ Discord: active',
      `  address     webhook ${webhookId()}`,
      '  webhook     Deploys, channel 9',
      '  queue       0 waiting, 0 given up',
      '',
      '– not configured: Slack, ntfy, E-mail, Webhook',
      '',
      `  config      ${chats.root}/config.yml`,
      '  templates   started.discord',
      '  errors      verbose_errors on',
      '  retries     max_deploy_retries 3',
      '',
    ].join('\n'),
  );
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [0, 0]);
});

test('--json holds everything by name', async () => {
  chats.configure(
    configOf(chats.bot, chats.hook, 'td', ['verbose_errors: false', 'max_deploy_retries: 5']),
  );
  const report = JSON.parse((await status(['--json'])).stdout);
  const [telegram, discord] = report.channels;
  assert.equal(
    [report.healthy, report.verbose_errors, report.max_deploy_retries, report.templates],
    [true, false, 5, []],
  );
  assert.equal(telegram, {
    channel: 'telegram',
    configured: true,
    active: true,
    named_by: [],
    missing: [],
    secret: '123456789:…otte',
    chat_id: String(CHAT_ID),
    healthy: true,
    answer: {
      bot: { id: 123456789, username: 'runner_bot', privacy_mode: true },
      chat: { id: String(CHAT_ID), type: 'supergroup', title: 'Deploys', is_forum: true },
      rights: { status: 'member', can_post: true },
    },
    advice: telegram.advice,
    problem: null,
    queued: 0,
    dead: 0,
    last_success: null,
    last_error: null,
    stopped: false,
    waits_until: null,
  });
  assert.equal(telegram.advice, []);
  const { channel_id } = discord.answer.webhook;
  assert.equal(
    [discord.secret, discord.answer],
    [`webhook ${webhookId()}`, { webhook: { id: webhookId(), name: 'Deploys', channel_id } }],
  );
  assert.match((await status(['-o', 'yaml'])).stdout, /\n {4}secret: 123456789:…otte\n/);
});

test('--offline asks nobody', async () => {
  chats.hook.remove();
  const ended = await status(['--offline']);
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.match(ended.stdout, /^• Telegram: active, not checked\n {2}token {7}123456789:…otte\n/);
  assert.is(JSON.parse((await status(['--offline', '--json'])).stdout).healthy, null);
  assert.equal([chats.bot.requests.length, chats.hook.requests.length], [0, 0]);
});

test('without any channel the status is 1, and the report is still printed', async () => {
  chats.configure('');
  const ended = await status();
  assert.is(ended.status, 1);
  assert.match(
    ended.stdout,
    /^– not configured: Telegram, Discord, Slack, ntfy, E-mail, Webhook\n/,
  );
  assert.is(
    ended.stderr,
    `runner notify status: no channel is active: run \`runner notify setup\`, or see section notify of ${chats.root}/config.yml\n`,
  );
});

test('what a service calls itself never drives the terminal', async () => {
  chats.bot.chats.splice(0, 1, { id: CHAT_ID, type: 'supergroup', title: '\x1b[31mred\u202e' });
  const ended = await status();
  assert.match(ended.stdout, /\\x1b\[31mred\\u202e/);
  assert.not.match(ended.stdout, /[\x1b\u202e]/);
});

test.run();
