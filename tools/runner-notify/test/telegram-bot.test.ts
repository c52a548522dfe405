/** What is asked of the Bot API, read by a server of our own. */
import { Secret } from '@runner/common/secrets/secret';
import { type Loopback, readBody, sendJson, startLoopback } from '@runner/testing/loopback';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openBot, rightsOf } from '../src/channels/telegram/bot.ts';
import { seenChats } from '../src/channels/telegram/detect-chat.ts';
import { BOT_TOKEN } from './chats.ts';

let server: Loopback;
let asked: { path: string; body: unknown }[];
let result: unknown;
test.before(async () => {
  server = await startLoopback({
    route: () => 'any',
    async answer(request, response) {
      asked.push({
        path: request.url ?? '',
        body: JSON.parse(String(await readBody(request))) as unknown,
      });
      sendJson(response, 200, { ok: true, result });
    },
  });
});
test.before.each(() => {
  asked = [];
});
test.after(() => server.close());

const open = () =>
  openBot(server.url, new Secret(BOT_TOKEN), { env: {}, redact: (text: string) => text });

test('getUpdates polls long, names every kind that is wanted, and has no offset', async () => {
  result = [];
  await open().updates(new AbortController().signal);
  assert.equal(asked, [
    {
      path: `/bot${BOT_TOKEN}/getUpdates`,
      body: {
        timeout: 25,
        limit: 100,
        allowed_updates: [
          'message',
          'edited_message',
          'channel_post',
          'edited_channel_post',
          'my_chat_member',
          'chat_join_request',
        ],
      },
    },
  ]);
});

test('updates of a megabyte are read, unlike other answers', async () => {
  result = Array.from({ length: 100 }, () => ({ message: { text: 'x'.repeat(10_000) } }));
  const reply = await open().updates(new AbortController().signal);
  assert.is('value' in reply && reply.value.length, 100);
  assert.ok('problem' in (await open().me()));
});

test('an answer of another shape is an empty one', async () => {
  for (result of [null, 7, [], 'x', { chat: 3 }]) {
    assert.ok('value' in (await open().me()));
    assert.ok('value' in (await open().chat('-1')));
    assert.ok('value' in (await open().member('-1', 1)));
    assert.ok('value' in (await open().updates(new AbortController().signal)));
  }
});

const chat = (type: string, membersMayPost = true) => ({
  id: '-1',
  type,
  title: 'T',
  isForum: false,
  membersMayPost,
});
for (const [what, type, status, mayPost, wanted] of [
  ['a channel administrator who may post', 'channel', 'administrator', true, [true, '']],
  ['one who may not', 'channel', 'administrator', false, [false, 'administrator of the channel']],
  [
    'a member of a channel',
    'channel',
    'member',
    undefined,
    [false, 'administrator of the channel'],
  ],
  ['a member of a group', 'group', 'member', undefined, [true, '']],
  ['an administrator of a group', 'supergroup', 'administrator', undefined, [true, '']],
  ['a restricted member', 'supergroup', 'restricted', false, [false, 'may not write']],
  ['a removed bot', 'group', 'kicked', undefined, [false, 'was removed']],
  ['a bot that left', 'group', 'left', undefined, [false, 'is not in the group']],
  ['a private chat', 'private', 'member', undefined, [true, '']],
] as const) {
  test(`${what}: may post: ${wanted[0]}, advice: ${wanted[1] || 'none'}`, () => {
    const rights = rightsOf(chat(type), { status, mayPost });
    assert.is(rights.canPost, wanted[0]);
    if (wanted[1] === '') assert.equal(rights.advice, []);
    else assert.match(rights.advice.join('\n'), wanted[1]);
  });
}

test('where members may not write, a bot that is one may not either', () => {
  const member = { status: 'member', mayPost: undefined };
  const rights = rightsOf(chat('supergroup', false), member);
  assert.equal([rights.canPost, rights.advice.length], [false, 1]);
});

test('a chat shows once, the newest first, not one that was left or has become another', () => {
  const at = (id: number, more: object = {}) => ({
    chat: { id, type: 'group', title: `g${id}` },
    ...more,
  });
  const updates = [
    { message: at(-1) },
    { message: at(-2) },
    { my_chat_member: at(-3, { new_chat_member: { status: 'member' } }) },
    { message: at(-4) },
    { my_chat_member: at(-4, { new_chat_member: { status: 'kicked' } }) },
    { message: at(-5, { migrate_to_chat_id: -1005 }) },
    { channel_post: { chat: { id: -1005, type: 'supergroup', title: 'five' } } },
    { edited_message: at(-1) },
    { inline_query: { from: { id: 9 } } },
    { message: 'nonsense' },
  ];
  assert.equal(
    seenChats(updates).map(({ id }) => id),
    ['-1', '-1005', '-3', '-2'],
  );
});

test.run();
