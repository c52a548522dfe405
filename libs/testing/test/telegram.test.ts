import { startTelegram, type TelegramOptions } from '@runner/testing/telegram';
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

const update = (text: string) => ({ message: { message_id: 1, text } });

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

test.run();
