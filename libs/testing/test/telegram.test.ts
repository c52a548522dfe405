import { refusals, startTelegram, type TelegramOptions } from '@runner/testing/telegram';
import type { Chat } from '@runner/testing/telegram-chats';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const TOKEN = '123456789:AAE-abcdefghijklmnopqrstuvwxyz_0123';
const GROUP: Chat = { id: -1001234567890, type: 'supergroup', title: 'Ops', topics: [7] };
const ADA: Chat = { id: 42, type: 'private', title: 'Ada' };

async function telegram(options: Partial<TelegramOptions> = {}) {
  const server = await startTelegram({ token: TOKEN, chats: [GROUP, ADA], ...options });
  const call = async (method: string, parameters: unknown = {}, token = TOKEN) => {
    const response = await fetch(`${server.url}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const send = (parameters: Record<string, unknown>) =>
    call('sendMessage', { chat_id: GROUP.id, text: 'hello', ...parameters });
  return { server, call, send };
}

test('a message arrives parsed and is kept', async () => {
  const { server, send } = await telegram();
  const payload = { text: '*Deploy* `v1.2.3` ', parse_mode: 'MarkdownV2', message_thread_id: 7 };
  const { status, body } = await send({ ...payload, link_preview_options: { is_disabled: true } });
  assert.is(status, 200);
  assert.is(body.result.text, 'Deploy v1.2.3');
  assert.is(body.result.chat.id, GROUP.id);
  assert.equal(body.result.entities, [
    { offset: 0, length: 6, type: 'bold' },
    { offset: 7, length: 6, type: 'code' },
  ]);
  const [message] = server.messages;
  assert.is(message?.chat_id, GROUP.id);
  assert.is(message?.thread_id, 7);
  assert.is(message?.text, 'Deploy v1.2.3');
  assert.equal(message?.entities, [
    { type: 'Bold', offset: 0, length: 6 },
    { type: 'Code', offset: 7, length: 6 },
  ]);
  assert.is(message?.payload.text, '*Deploy* `v1.2.3` ');
  await server.close();
});

test('a chat is named by a number, by digits or by its name', async () => {
  const { server, send } = await telegram({
    chats: [{ id: -1009, type: 'channel', username: 'DeployNews' }],
  });
  for (const chat_id of [-1009, '-1009', '@deploynews']) {
    assert.is((await send({ chat_id })).status, 200);
  }
  assert.is((await send({ chat_id: '@other' })).body.description, 'Bad Request: chat not found');
  await server.close();
});

test('4,096 code points of any kind are accepted and one more is not', async () => {
  const { server, send } = await telegram();
  for (const [unit, mode] of [['a'], ['é'], ['😀'], ['\\.', 'MarkdownV2']] as const) {
    const parse_mode = mode === undefined ? {} : { parse_mode: mode };
    assert.is((await send({ text: unit.repeat(4096), ...parse_mode })).status, 200);
    const long = await send({ text: unit.repeat(4097), ...parse_mode });
    assert.equal(long.body, {
      ok: false,
      error_code: 400,
      description: 'Bad Request: message is too long',
    });
  }
  assert.is((await send({ text: `${'a'.repeat(4096)}\n\n  ` })).status, 200);
  await server.close();
});

test('32768 raw bytes are taken and one more is not', async () => {
  const { server, send } = await telegram();
  const text = (bytes: number) => `${'*'.repeat(bytes - 1)}a`;
  const fits = await send({ text: `a${' '.repeat(32_767)}` });
  assert.is(fits.status, 200);
  const long = await send({ text: text(32_769), parse_mode: 'MarkdownV2' });
  assert.is(long.body.description, 'Bad Request: text is too long');
  await server.close();
});

const REFUSED: [string, Record<string, unknown>, number, RegExp][] = [
  ['no chat', { chat_id: undefined }, 400, /chat_id is empty/],
  ['an unknown chat', { chat_id: 4711 }, 400, /chat not found/],
  ['no text', { text: '' }, 400, /message text is empty/],
  ['white space', { text: ' \n ' }, 400, /must be non-empty/],
  ['text that is no string', { text: 5 }, 400, /"text" must be of type string/],
  ['a topic that is no number', { message_thread_id: '7' }, 400, /must be of type integer/],
  ['an unknown topic', { message_thread_id: 8 }, 400, /message thread not found/],
  ['a topic where there are none', { chat_id: 42, message_thread_id: 7 }, 400, /thread not found/],
  ['an unknown field', { parsemode: 'HTML' }, 400, /unknown field "parsemode"/],
  ['an unknown mode', { parse_mode: 'markdown3' }, 400, /unsupported parse_mode/],
  ['a mode that the product does not use', { parse_mode: 'HTML' }, 400, /unsupported parse_mode/],
  [
    'markup that does not end',
    { text: '*a', parse_mode: 'MarkdownV2' },
    400,
    /can't parse entities: Can't find end of Bold/,
  ],
  ['half a character', { text: 'a\ud83d' }, 400, /UTF-8/],
  ['a wrong option', { link_preview_options: { is_disabled: 1 } }, 400, /is_disabled/],
];

for (const [what, parameters, status, words] of REFUSED) {
  test(`${what}: refused with words`, async () => {
    const { server, send } = await telegram();
    const answer = await send(parameters);
    assert.is(answer.status, status);
    assert.match(answer.body.description, words);
    assert.is(answer.body.ok, false);
    assert.equal(server.messages, []);
    await server.close();
  });
}

const ABSENT: [Chat['type'], Chat['bot'], number, string][] = [
  ['group', 'kicked', 403, 'Forbidden: bot was kicked from the group chat'],
  ['supergroup', 'left', 403, 'Forbidden: bot is not a member of the supergroup chat'],
  ['channel', 'kicked', 403, 'Forbidden: bot was kicked from the channel chat'],
  ['private', 'blocked', 403, 'Forbidden: bot was blocked by the user'],
  ['private', 'deactivated', 403, 'Forbidden: user is deactivated'],
  ['private', 'never-started', 403, "Forbidden: bot can't initiate conversation with a user"],
  ['channel', 'member', 400, 'Bad Request: need administrator rights in the channel chat'],
  [
    'supergroup',
    'restricted',
    400,
    'Bad Request: not enough rights to send text messages to the chat',
  ],
];

for (const [type, bot, status, description] of ABSENT) {
  test(`a bot that is ${bot} in a ${type} gets that error`, async () => {
    const chat: Chat = { id: -5, type, ...(bot !== undefined && { bot }) };
    const { server, send } = await telegram({ chats: [chat] });
    const answer = await send({ chat_id: -5 });
    assert.equal([answer.status, answer.body.description], [status, description]);
    await server.close();
  });
}

test('a group that became a supergroup gives its new id', async () => {
  const { server, send } = await telegram({
    chats: [{ id: -7, type: 'group', migratedTo: GROUP.id }, GROUP],
  });
  const { status, body } = await send({ chat_id: -7 });
  assert.is(status, 400);
  assert.equal(body.parameters, { migrate_to_chat_id: GROUP.id });
  assert.is((await send({ chat_id: body.parameters.migrate_to_chat_id })).status, 200);
  await server.close();
});

test('a wrong or revoked token, an unknown method and another path have different errors', async () => {
  const { server, call } = await telegram();
  assert.is((await call('getMe', {}, '1:wrong')).status, 401);
  assert.equal((await call('noSuch')).body.description, 'Not Found: method not found');
  assert.is((await fetch(`${server.url}/`)).status, 404);
  assert.is((await call('getMe')).body.result.username, 'runner_bot');
  server.revoke();
  assert.is((await call('getMe')).status, 401);
  await server.close();
});

test('a body that is not JSON is refused; without a content type it is not read', async () => {
  const { server } = await telegram();
  const url = `${server.url}/bot${TOKEN}/sendMessage`;
  const headers = { 'content-type': 'application/json' };
  const broken = await fetch(url, { method: 'POST', headers, body: '{"chat_id":' });
  assert.match(JSON.parse(await broken.text()).description, /can't parse JSON/);
  const untyped = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ chat_id: 42, text: 'x' }),
  });
  assert.is(untyped.status, 400);
  await server.close();
});

test('getMe, getChat, getChatMember and getWebhookInfo answer', async () => {
  const channel: Chat = { id: -1005, type: 'channel', title: 'News', canPost: false };
  const { server, call } = await telegram({ chats: [GROUP, ADA, channel], readsAll: true });
  const me = (await call('getMe')).body.result;
  assert.is(me.id, 123456789);
  assert.is(me.can_read_all_group_messages, true);
  const chat = (await call('getChat', { chat_id: GROUP.id })).body.result;
  assert.equal([chat.type, chat.title, chat.is_forum], ['supergroup', 'Ops', true]);
  const member = { chat_id: channel.id, user_id: me.id };
  const { status, can_post_messages } = (await call('getChatMember', member)).body.result;
  assert.equal([status, can_post_messages], ['administrator', false]);
  assert.is((await call('getWebhookInfo')).body.result.url, '');
  server.chats[1] = { ...ADA, bot: 'blocked' };
  assert.is((await call('getChat', { chat_id: 42 })).status, 403);
  await server.close();
});

const update = (text: string) => ({ message: { message_id: 1, text } });

test('updates wait until they are confirmed', async () => {
  const { server, call } = await telegram();
  server.push(update('one'));
  server.push(update('two'));
  const first = (await call('getUpdates')).body.result;
  assert.is(first.length, 2);
  assert.is((await call('getUpdates', { limit: 1 })).body.result.length, 1);
  const rest = (await call('getUpdates', { offset: first[0].update_id + 1 })).body.result;
  assert.equal(
    rest.map((item: { message: { text: string } }) => item.message.text),
    ['two'],
  );
  await server.close();
});

test('a negative offset discards all but the newest updates', async () => {
  const { server, call } = await telegram();
  for (const text of ['one', 'two', 'three']) server.push(update(text));
  assert.is((await call('getUpdates', { offset: -1 })).body.result.length, 1);
  assert.is((await call('getUpdates')).body.result.length, 1);
  await server.close();
});

test('a long poll ends with the first update, or empty at its timeout', async () => {
  const { server, call } = await telegram();
  const waiting = call('getUpdates', { timeout: 25 });
  setTimeout(() => server.push(update('late')), 50);
  assert.is((await waiting).body.result[0].message.text, 'late');
  const begun = performance.now();
  const next = { offset: 200_000_000, timeout: 1 };
  assert.equal((await call('getUpdates', next)).body.result, []);
  assert.ok(performance.now() - begun >= 950);
  await server.close();
});

test('the kinds that are wanted stay as they were asked for last', async () => {
  const { server, call } = await telegram();
  await call('getUpdates', { allowed_updates: ['my_chat_member'] });
  server.push(update('unwanted'));
  await call('getUpdates');
  server.push(update('still unwanted'));
  server.push({ my_chat_member: {} });
  assert.equal(Object.keys((await call('getUpdates')).body.result[0]), [
    'update_id',
    'my_chat_member',
  ]);
  await server.close();
});

test('a webhook or another poller makes getUpdates a conflict', async () => {
  const { server, call } = await telegram();
  server.conflicts.webhook = 'https://example.org/hook';
  const hook = await call('getUpdates');
  assert.is(hook.status, 409);
  assert.match(hook.body.description, /webhook is active/);
  assert.is((await call('getWebhookInfo')).body.result.url, 'https://example.org/hook');
  server.conflicts.webhook = '';
  const first = call('getUpdates', { timeout: 20 });
  while (server.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 30));
  const second = call('getUpdates', { timeout: 1 });
  assert.match((await first).body.description, /terminated by other getUpdates/);
  assert.is((await second).status, 200);
  server.conflicts.otherPoller = true;
  assert.is((await call('getUpdates')).status, 409);
  await server.close();
});

test('one message a second in a chat, 20 a minute in a group, 30 a second over all', async () => {
  let time = 0;
  const chats = Array.from({ length: 31 }, (_, n): Chat => ({ id: n + 1, type: 'private' }));
  const { server, send } = await telegram({ chats: [...chats, GROUP], rates: 1, now: () => time });
  assert.is((await send({})).status, 200);
  time = 999;
  const { status, body } = await send({});
  assert.is(status, 429);
  assert.equal(body.parameters, { retry_after: 1 });
  assert.is((await send({ chat_id: 1 })).status, 200);
  for (let n = 1; n < 20; n += 1) {
    time = n * 1_000;
    assert.is((await send({})).status, 200);
  }
  time = 20_000;
  assert.equal((await send({})).body.parameters, { retry_after: 40 });
  for (let n = 1; n <= 30; n += 1) assert.is((await send({ chat_id: n })).status, 200);
  assert.is((await send({ chat_id: 31 })).status, 429);
  await server.close();
});

test('rate limits run at the requested speed', async () => {
  let time = 0;
  const { server, send } = await telegram({ rates: 10, now: () => time });
  await send({});
  time = 99;
  assert.is((await send({})).status, 429);
  time = 100;
  assert.is((await send({})).status, 200);
  await server.close();
});

test('hasty polling is slowed down when rates are kept', async () => {
  let time = 0;
  const { server, call } = await telegram({ rates: 10, now: () => time });
  server.push(update('one'));
  server.push(update('two'));
  const count = async () => (await call('getUpdates', { timeout: 0 })).body.result.length;
  assert.is(await count(), 2);
  time = 49;
  assert.is(await count(), 1);
  time = 99;
  assert.is(await count(), 2);
  await server.close();
});

test('refusals are worded as the platform words them', async () => {
  const { server, send } = await telegram();
  server.fail(refusals.tooManyRequests(3), 1, 'sendMessage');
  assert.equal((await send({})).body.parameters, { retry_after: 3 });
  server.fail(refusals.internal, 1, 'sendMessage');
  assert.is((await send({})).status, 500);
  server.fail(refusals.unauthorized, 1, 'getMe');
  assert.is((await send({})).status, 200);
  await server.close();
});

test.run();
