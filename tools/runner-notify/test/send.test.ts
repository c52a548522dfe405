import { shell, start } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID, type Chats, event, startChats } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
});
test.after.each(() => chats.close());

test('records are announced as they arrive, while the input stays open', async () => {
  const running = start('runner-notify', ['send'], { root: chats.root });
  const lines = running.stdout[Symbol.asyncIterator]();
  for (const kind of ['DeployStarted', 'DeploySuccess']) {
    running.stdin.write(`${JSON.stringify(event(kind))}\n`);
    assert.match((await lines.next()).value, `delivered  telegram  ${kind} shop`);
    assert.match((await lines.next()).value, `delivered  discord   ${kind} shop`);
  }
  running.stdin.end();
  assert.is((await running.done).status, 0);
});

test('what audit emit prints is announced in a pipeline of the shell', async () => {
  const ended = await shell(
    'runner-audit emit DeployStarted --project shop --version v1 --deploy-id 12345678 | runner-notify send',
    { root: chats.root },
  );
  assert.is(
    ended.stdout,
    'delivered  telegram  DeployStarted shop v1 [12345678], 1 message\ndelivered  discord   DeployStarted shop v1 [12345678], 1 message\n',
  );
  assert.equal([ended.status, ended.stderr], [0, '']);
});

test('with --once a record of the audit log is sent once, and without it each time', async () => {
  const emit = 'runner-audit emit DeployStarted --project shop --version v1 --deploy-id 12345678';
  const ended = await shell(
    `${emit} > "$RUNNER_ROOT/record" && for option in --once --once '' ''; do
      runner-notify send $option < "$RUNNER_ROOT/record" || exit
    done`,
    { root: chats.root },
  );
  const [telegram, discord] = ['telegram ', 'discord  '].map(
    (channel) => `delivered  ${channel} DeployStarted shop v1 [12345678]`,
  );
  const line = (times: string) => `${telegram}, ${times}\n${discord}, ${times}\n`;
  assert.is(ended.stdout, line('1 message').repeat(4));
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [3, 3]);
});

test('lines that are not records are reported by number, the others are sent, and the status is 1', async () => {
  const ended = await chats.send([
    'nonsense',
    event('GuardBypassed'),
    { event: 'DeployStarted', app: 'api', version: 'v1', deploy_id: '12345678' },
    { event_type: 'DeployStarted' },
  ]);
  assert.is(ended.status, 1);
  assert.is(
    ended.stderr,
    'runner notify send: line 1: it is not a JSON object\nrunner notify send: line 4: the record has no project\n',
  );
  assert.match(chats.bot.messages[0]?.text ?? '', /Project: api\nInstance: default\n/);
  assert.is(chats.hook.messages.length, 1);
});

test('an empty input is no failure, whatever the configuration is', async () => {
  chats.configure('notify: [');
  const ended = await chats.send([]);
  assert.equal([ended.status, ended.stdout, ended.stderr], [0, '', '']);
});

test('a malformed configuration is reported with its line, and nothing is sent', async () => {
  chats.configure(`notify:\n  telegram_bot_token: ${BOT_TOKEN}\n  channel: pigeon\n`);
  const ended = await chats.send([event('DeployStarted')], ['--json']);
  assert.is(ended.status, 1);
  assert.is(
    ended.stderr,
    `runner notify send: ${chats.root}/config.yml:3: notify.channel: must be one of telegram, discord, slack, ntfy, email, webhook, both (config_invalid)\n`,
  );
  assert.is(JSON.parse(ended.stdout).error, 'config_invalid');
  assert.is(chats.bot.requests.length, 0);
});

test('without any channel the record is skipped, with one note', async () => {
  chats.configure('notify:\n  telegram_bot_token: ""\n  telegram_chat_id:\n');
  const ended = await chats.send([event('DeployStarted'), event('DeploySuccess')], ['--strict']);
  assert.is(ended.status, 0);
  assert.is(
    ended.stdout,
    'skipped    -         DeployStarted shop v1.3.0 [a1b2c3d4], not_configured\nskipped    -         DeploySuccess shop v1.3.0 [a1b2c3d4], not_configured\n',
  );
  assert.is(
    ended.stderr,
    `runner notify send: no channel is active: run \`runner notify setup\`, or see section notify of ${chats.root}/config.yml\n`,
  );
});

test('the credentials of the earlier layout, at the top level, work as well', async () => {
  const { bot, hook } = chats;
  chats.configure(
    `telegram_bot_token: "${BOT_TOKEN}"\ntelegram_chat_id: ${CHAT_ID}\ndiscord_webhook: ${hook.webhook}\n`,
  );
  const ended = await chats.send([event('DeployStarted')], [], {
    env: { RUNNER_TELEGRAM_API_URL: bot.url },
  });
  assert.is(ended.status, 0);
  assert.equal([bot.messages.length, hook.messages.length], [1, 1]);
});

test('of a delivered record nothing remains, and outside of spool and locks nothing was written', async () => {
  const before = tree(chats.root, { modes: true });
  await chats.send([event('DeployFailure', { error: 'x\n'.repeat(900) })]);
  const after = Object.entries(tree(chats.root, { modes: true }));
  const added = after.filter(([path]) => !Object.hasOwn(before, path));
  assert.equal(
    added.map(([path, text]) => [path, text.slice(0, 4)]),
    [
      ['locks/', '0750'],
      ['locks/.notify-discord.lock', '0600'],
      ['locks/.notify-telegram.lock', '0600'],
      ['spool/', '0700'],
      ['spool/notify/', '0700'],
      ['spool/notify/discord.json', '0600'],
      ['spool/notify/telegram.json', '0600'],
    ],
  );
  assert.equal(Object.fromEntries(after.filter(([path]) => Object.hasOwn(before, path))), before);
});

test('--strict makes an undelivered message a failure, and only then it is one', async () => {
  chats.hook.remove();
  const lenient = await chats.send([event('DeployStarted')]);
  const strict = await chats.send([event('DeployStarted')], ['--strict']);
  assert.equal([lenient.status, strict.status], [0, 1]);
  assert.is(
    lenient.stderr,
    'runner notify send: discord: DeployStarted of shop was not delivered: Unknown Webhook (10015); check that the webhook was not deleted, and its address\n',
  );
  assert.match(
    lenient.stdout,
    /^delivered {2}telegram .*\nrejected {3}discord {3}DeployStarted shop v1\.3\.0 \[a1b2c3d4\], Unknown Webhook\n$/,
  );
});

for (const [args, sentence] of [
  [
    ['--wait', 'soon'],
    "error: invalid value 'soon' for '--wait <SECONDS>': it is not a number of seconds from 0 to 86400\n",
  ],
  [
    ['--wait', '-1'],
    "error: invalid value '-1' for '--wait <SECONDS>': it is not a number of seconds from 0 to 86400\n",
  ],
  [
    ['--wait=86401'],
    "error: invalid value '86401' for '--wait <SECONDS>': it is not a number of seconds from 0 to 86400\n",
  ],
  [
    ['--channel', 'pigeon'],
    "error: invalid value 'pigeon' for '--channel <CHANNEL>' [possible values: telegram, discord, slack, ntfy, email, webhook, both, all, none, code-host]\n",
  ],
  [['shop'], "error: unexpected argument 'shop' found\n"],
] as const) {
  test(`${args.join(' ')} is wrong usage`, async () => {
    const ended = await chats.send([event('DeployStarted')], args);
    assert.equal([ended.status, ended.stdout, ended.stderr], [2, '', sentence]);
    assert.is(chats.bot.requests.length, 0);
  });
}

test.run();
