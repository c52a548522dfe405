/** `setup` without a terminal. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID } from './chats.ts';
import { chats, config, files, secretless, setup, setupSuite } from './setup.ts';

const test = setupSuite();

test('the environment and standard input stand for the files', async () => {
  const ended = await setup(
    [`--chat-id=${CHAT_ID}`, '--webhook-file', '-', '--no-test', '--json'],
    {
      env: { RUNNER_TELEGRAM_TOKEN: BOT_TOKEN },
      stdin: `${chats.hook.webhook}\n`,
    },
  );
  assert.is(ended.status, 0);
  const { channel, channels, config: path } = JSON.parse(ended.stdout);
  assert.equal([channel, path], ['both', `${chats.root}/config.yml`]);
  assert.equal(channels[0], {
    channel: 'telegram',
    bot: { id: 123456789, username: 'runner_bot' },
    chat: { id: String(CHAT_ID), type: 'supergroup', title: 'Deploys' },
    tested: false,
  });
  assert.equal([channels[1].channel, channels[1].webhook.name], ['discord', 'Deploys']);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [0, 0]);
  secretless(ended);
});

for (const [args, sentence] of [
  ...(['deploys', '@ops', '0', '-00'] as const).map(
    (id) =>
      [
        ['--chat-id', id],
        `invalid value '${id}' for '--chat-id <ID>': it is a whole number but 0, negative for groups and channels, or @name of 4 or more characters`,
      ] as const,
  ),
  [['--thread-id', '0'], "invalid value '0' for '--thread-id <N>': it is a whole number above 0"],
  [
    ['--token-file', '-', '--webhook-file', '-'],
    "'--token-file -' cannot be used with '--webhook-file -': both read standard input",
  ],
  [
    ['--channel', 'discord', '--chat-id', '-5'],
    "the argument '--chat-id <ID>' cannot be used with '--channel discord', which takes --webhook-file",
  ],
  [
    ['--channel', 'telegram', '--webhook-file', '-'],
    "the argument '--webhook-file <FILE>' cannot be used with '--channel telegram', which takes --token-file, --chat-id, --thread-id",
  ],
] as const) {
  test(`${args.join(' ')} is wrong usage`, async () => {
    const ended = await setup(args);
    assert.equal([ended.status, ended.stderr], [2, `error: ${sentence}\n`]);
  });
}

test('comments, order, unknown keys and other settings of config.yml stay', async () => {
  chats.configure(
    [
      '# our server',
      'colour: blue   # nobody knows why',
      'notify:',
      '    verbose_errors: false # short, please',
      '    discord_webhook: not an address',
      '    pigeon: {coop: 7}',
      '',
    ].join('\n'),
  );
  const ended = await setup(['--channel', 'discord', '--webhook-file', files.webhook]);
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.is(
    config(),
    [
      '# our server',
      'colour: blue   # nobody knows why',
      'notify:',
      '    verbose_errors: false # short, please',
      `    discord_webhook: ${chats.hook.webhook}`,
      '    pigeon: {coop: 7}',
      '    channel: discord',
      '',
    ]
      .join('\n')
      .replace('blue   #', 'blue #'),
  );
});

test('the earlier layout, with credentials at the top level, is kept', async () => {
  chats.configure(
    'telegram_bot_token: "1:old"\ntelegram_chat_id: -5 # the old group\ndiscord_webhook: ""\n',
  );
  const ended = await setup([
    '--channel=telegram',
    `--token-file=${files.token}`,
    `--chat-id=${CHAT_ID}`,
  ]);
  assert.is(ended.status, 0);
  assert.match(
    config(),
    new RegExp(
      `^telegram_bot_token: "?${BOT_TOKEN}"?\\ntelegram_chat_id: "${CHAT_ID}" # the old group\\n`,
    ),
  );
  assert.match(config(), /\nnotify:\n {2}channel: telegram\n$/);
  const status = await run('runner-notify', ['status', '--offline', '--json'], {
    root: chats.root,
  });
  assert.is(JSON.parse(status.stdout).channels[0].active, true);
});

test('a channel that was switched off by notify.channel stays off', async () => {
  chats.configure(`notify:\n  channel: telegram\n  discord_webhook: ${chats.hook.webhook}\n`);
  const ended = await setup([
    '--channel=telegram',
    `--token-file=${files.token}`,
    `--chat-id=${CHAT_ID}`,
  ]);
  assert.is(ended.status, 0);
  assert.match(config(), /\n {2}channel: telegram\n/);
});

test('a topic of the chat before is forgotten', async () => {
  chats.configure('notify:\n  telegram_thread_id: 99\n');
  await setup(['--channel=telegram', `--token-file=${files.token}`, `--chat-id=${CHAT_ID}`]);
  assert.not.match(config(), /thread/);
});

for (const [what, prepare, args, code, words] of [
  [
    'a revoked token',
    () => chats.bot.revoke(),
    't',
    'token_invalid',
    'telegram: Unauthorized (getMe, 401); check the bot token',
  ],
  [
    'a service that cannot be reached',
    () => chats.bot.fail('drop', 9),
    't',
    'network_error',
    "check the server's network",
  ],
  ['a page of a proxy', () => chats.bot.fail('html', 9), 't', 'delivery_failed', 'HTTP status 502'],
  [
    'an unknown chat',
    () => chats.bot.chats.splice(0),
    't',
    'delivery_failed',
    'chat not found (getChat, 400); check that the chat_id is right, and negative for groups and channels',
  ],
  [
    'a group without the bot',
    () => chats.bot.chats.splice(0, 1, { id: CHAT_ID, type: 'supergroup', bot: 'left' }),
    't',
    'delivery_failed',
    'bot is not a member',
  ],
  [
    'a channel where it may not post',
    () =>
      chats.bot.chats.splice(0, 1, { id: CHAT_ID, type: 'channel', title: 'News', canPost: false }),
    't',
    'delivery_failed',
    'the bot cannot post in News',
  ],
  [
    'a deleted webhook',
    () => chats.hook.remove(),
    'd',
    'delivery_failed',
    'discord: Unknown Webhook (GET webhook, 10015); check that the webhook was not deleted',
  ],
  [
    'a test message that is refused',
    () =>
      chats.hook.fail(
        { status: 403, body: { message: 'Missing Permissions', code: 50013 } },
        1,
        'POST',
      ),
    'd',
    'delivery_failed',
    'Missing Permissions (POST webhook, 50013)',
  ],
] as const) {
  test(`${what} is reported with what to check, and nothing is saved`, async () => {
    const before = tree(chats.root);
    prepare();
    const ended = await setup([
      ...(args === 't'
        ? [`--token-file=${files.token}`, `--chat-id=${CHAT_ID}`]
        : [`--webhook-file=${files.webhook}`]),
      '--json',
    ]);
    assert.is(ended.status, 1);
    const told = JSON.parse(ended.stdout);
    assert.is(told.error, code);
    assert.is(told.channel, args === 't' ? 'telegram' : 'discord');
    assert.ok(`${told.message} ${told.hint}`.includes(words), told.message);
    assert.equal(tree(chats.root), before);
    secretless(ended);
  });
}

test('services that take messages and tell little else are set up, the test message decides', async () => {
  const notThere = { ok: false, error_code: 404, description: 'Not Found' };
  for (const method of ['getChat', 'getChatMember'])
    chats.bot.fail({ status: 404, body: notThere }, 9, method);
  const bodies: string[] = [];
  const hook = createServer((request, response) => {
    if (request.method === 'POST') request.on('data', (bytes) => bodies.push(String(bytes)));
    request.on('end', () => response.writeHead(request.method === 'POST' ? 204 : 405).end());
    request.resume();
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
  writeFileSync(files.webhook, address);
  const ended = await setup([
    `--token-file=${files.token}`,
    `--chat-id=${CHAT_ID}`,
    `--webhook-file=${files.webhook}`,
    '--json',
  ]);
  hook.close();
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal(
    JSON.parse(ended.stdout).channels.map(({ tested }: { tested: boolean }) => tested),
    [true, true],
  );
  assert.equal([chats.bot.messages.length, bodies.length], [1, 1]);
  assert.ok(config().includes(`discord_webhook: ${address}\n`));
});

test('the root is made when it is not there, and config.yml is for its owner alone', async () => {
  const root = join(chats.root, 'new', 'root');
  const ended = await setup([`--webhook-file=${files.webhook}`, '--root', root]);
  assert.is(ended.status, 0);
  assert.match(tree(root, { modes: true })['config.yml'] ?? '', /^0600 /);
});

test('a new config.yml names its JSON Schema, by which an editor checks it; an old one is left as it is', async () => {
  const root = join(chats.root, 'new');
  const args = [`--webhook-file=${files.webhook}`, '--root', root];
  await setup(args);
  const path = join(distFolder(), 'share/runner/schemas/config.schema.json');
  if (/\s/.test(path)) return;
  const text = readFileSync(join(root, 'config.yml'), 'utf8');
  assert.is(text.split('\n')[0], `# yaml-language-server: $schema=${path}`);
  assert.is(JSON.parse(readFileSync(path, 'utf8')).title, 'config.yml of runner');
  writeFileSync(join(root, 'config.yml'), '# mine\n', { mode: 0o600 });
  await setup(args);
  assert.match(readFileSync(join(root, 'config.yml'), 'utf8'), /^# mine\n\nnotify:\n/);
});

test.run();
