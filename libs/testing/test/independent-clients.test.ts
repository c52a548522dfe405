/**
 * Clients that are not ours, in wide use against the real services, run against the stand-ins: what
 * they take for the platform need not be believed on our word.
 */
import { DiscordAPIError, REST, type RestEvents } from '@discordjs/rest';
import { startDiscord } from '@runner/testing/discord';
import { refusals as hookRefusals } from '@runner/testing/discord-refusals';
import { refusals, startTelegram } from '@runner/testing/telegram';
import { Bot, GrammyError } from 'grammy';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const TOKEN = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';
const CHAT = -1001234567890;

const startBot = () =>
  startTelegram({
    token: TOKEN,
    chats: [{ id: CHAT, type: 'supergroup', title: 'Deploys', topics: [7] }],
  });

/** What a promise is rejected with. */
async function refusal<T>(
  work: Promise<unknown>,
  kind: abstract new (...args: never[]) => T,
): Promise<T> {
  try {
    await work;
  } catch (error) {
    assert.instance(error, kind);
    return error as T;
  }
  throw new Error('it was taken');
}

test('grammY: getMe, and a bot that starts with it', async () => {
  const server = await startBot();
  const bot = new Bot(TOKEN, { client: { apiRoot: server.url } });
  const me = await bot.api.getMe();
  assert.equal(
    [me.id, me.is_bot, me.username, me.can_read_all_group_messages],
    [123456789, true, 'runner_bot', false],
  );
  await bot.init();
  assert.is(bot.botInfo.username, 'runner_bot');
  await server.close();
});

test('grammY: updates arrive by long polling, with chat and topic, and are confirmed', async () => {
  const server = await startBot();
  const bot = new Bot(TOKEN, { client: { apiRoot: server.url } });
  const told: unknown[] = [];
  const arrived = new Promise<void>((resolve) => {
    bot.on(['message:text', 'my_chat_member'], (context) => {
      told.push([context.chat.id, context.chat.type, context.message?.message_thread_id]);
      if (told.length === 2) resolve();
    });
  });
  await bot.init();
  const chat = { id: CHAT, type: 'supergroup', title: 'Deploys', is_forum: true };
  const from = { id: 42, is_bot: false, first_name: 'Ada' };
  const message = { message_id: 1, date: 1, chat, from, text: 'hello', message_thread_id: 7 };
  server.push({ message });
  server.push({
    my_chat_member: {
      chat,
      from,
      date: 1,
      old_chat_member: { status: 'left', user: from },
      new_chat_member: { status: 'member', user: from },
    },
  });
  const updates = await bot.api.getUpdates({ timeout: 1 });
  for (const update of updates) await bot.handleUpdate(update);
  await arrived;
  assert.equal(told, [
    [CHAT, 'supergroup', 7],
    [CHAT, 'supergroup', undefined],
  ]);
  const last = updates.at(-1)?.update_id ?? 0;
  assert.equal(await bot.api.getUpdates({ offset: last + 1 }), []);
  await server.close();
});

test('grammY: sendMessage in MarkdownV2 is parsed, and a text that cannot be is refused in the same words', async () => {
  const server = await startBot();
  const { api } = new Bot(TOKEN, { client: { apiRoot: server.url } });
  const options = { parse_mode: 'MarkdownV2', message_thread_id: 7 } as const;
  const sent = await api.sendMessage(CHAT, '*bold* and `code` \\- done\\!', options);
  assert.equal(
    [sent.text, sent.chat.id, sent.message_thread_id],
    ['bold and code - done!', CHAT, 7],
  );
  assert.equal(
    sent.entities?.map(({ type, offset, length }) => [type, offset, length]),
    [
      ['bold', 0, 4],
      ['code', 9, 4],
    ],
  );
  const refused = await refusal(api.sendMessage(CHAT, 'a.b', options), GrammyError);
  assert.equal(
    [refused.method, refused.error_code, refused.description],
    [
      'sendMessage',
      400,
      "Bad Request: can't parse entities: Character '.' is reserved and must be escaped with the preceding '\\'",
    ],
  );
  const missing = await refusal(api.sendMessage(-1009999999999, 'x'), GrammyError);
  assert.is(missing.description, 'Bad Request: chat not found');
  await server.close();
});

test('grammY: 429 carries the seconds to wait, and 401 and 409 are its errors', async () => {
  const server = await startBot();
  const { api } = new Bot(TOKEN, { client: { apiRoot: server.url } });
  server.fail(refusals.tooManyRequests(3));
  const many = await refusal(api.sendMessage(CHAT, 'one'), GrammyError);
  assert.equal([many.error_code, many.parameters], [429, { retry_after: 3 }]);
  server.conflicts.webhook = 'https://example.org/hook';
  assert.is((await refusal(api.getUpdates(), GrammyError)).error_code, 409);
  assert.is((await api.getWebhookInfo()).url, 'https://example.org/hook');
  server.revoke();
  assert.is((await refusal(api.getMe(), GrammyError)).description, 'Unauthorized');
  await server.close();
});

test('grammY: a group that was upgraded gives its new id', async () => {
  const server = await startBot();
  server.chats.push({ id: -100200300, type: 'group', title: 'Old', migratedTo: CHAT });
  const { api } = new Bot(TOKEN, { client: { apiRoot: server.url } });
  const refused = await refusal(api.sendMessage(-100200300, 'x'), GrammyError);
  assert.equal([refused.error_code, refused.parameters], [400, { migrate_to_chat_id: CHAT }]);
  await server.close();
});

/** A client of the stand-in, and the route of its webhook. */
async function startHook(options: { rates?: number } = {}, retries = 0) {
  const server = await startDiscord(options);
  const { origin, pathname } = new URL(server.webhook);
  const rest = new REST({ version: '10', api: `${origin}/api`, retries });
  const limited: string[] = [];
  rest.on(
    'rateLimited' as keyof RestEvents,
    ((info: { limit: number; scope: string }) => {
      limited.push(`${info.scope} ${info.limit}`);
    }) as never,
  );
  const route = pathname.replace('/api', '') as `/${string}`;
  const query = new URLSearchParams({ wait: 'true' });
  return {
    server,
    limited,
    execute: (body: unknown, wait = true) =>
      rest.post(route, { auth: false, body, ...(wait && { query }) }),
    look: (path = route) => rest.get(path, { auth: false }),
  };
}

test('@discordjs/rest: a webhook that is executed with wait=true answers with the message, else with nothing', async () => {
  const { server, execute, look } = await startHook();
  const message = (await execute({
    content: 'hello',
    embeds: [{ title: 'Deploy', description: 'done', color: 0x2ecc71 }],
    allowed_mentions: { parse: [] },
  })) as Record<string, unknown>;
  assert.equal([message.content, message.type], ['hello', 0]);
  assert.match(String(message.id), /^\d{17,20}$/);
  await execute({ content: 'again' }, false);
  assert.equal(
    server.messages.map(({ waited }) => waited),
    [true, false],
  );
  assert.is(((await look()) as Record<string, unknown>).name, 'Deploys');
  await server.close();
});

test('@discordjs/rest: refusals are errors of the platform, with its codes and the field that is wrong', async () => {
  const { server, execute, look } = await startHook();
  const empty = await refusal(execute({}), DiscordAPIError);
  assert.equal([empty.status, empty.code], [400, 50006]);
  const long = await refusal(execute({ content: 'x'.repeat(2001) }), DiscordAPIError);
  assert.equal([long.status, long.code], [400, 50035]);
  assert.match(long.message, /content\[BASE_TYPE_MAX_LENGTH\]: Must be 2000 or fewer in length/);
  const wrong = new URL(server.webhook).pathname
    .replace('/api', '')
    .replace(/[^/]+$/, 'x'.repeat(68)) as `/${string}`;
  const invalid = await refusal(look(wrong), DiscordAPIError);
  assert.equal([invalid.status, invalid.code], [401, 50027]);
  server.remove();
  const gone = await refusal(execute({ content: 'x' }), DiscordAPIError);
  assert.equal(
    [gone.status, gone.code, gone.rawError],
    [404, 10015, { message: 'Unknown Webhook', code: 10015 }],
  );
  await server.close();
});

test('@discordjs/rest: understands the rates in the headers, and is never refused for them', async () => {
  const { server, limited, execute } = await startHook({ rates: 4 });
  await Promise.all(Array.from({ length: 12 }, (_, at) => execute({ content: `message ${at}` })));
  assert.is(server.messages.length, 12);
  assert.equal(
    server.requests.filter(({ status }) => status !== 200),
    [],
  );
  assert.ok(limited.length > 0);
  assert.ok(
    limited.every((each) => each === 'user 5'),
    limited.join(),
  );
  await server.close();
});

test('@discordjs/rest: after a 429 it waits as long as the answer says, and sends again', async () => {
  const { server, execute } = await startHook({}, 1);
  server.fail(hookRefusals.rateLimited(1));
  const begun = performance.now();
  await execute({ content: 'patience' });
  assert.ok(performance.now() - begun >= 990);
  assert.equal(
    server.requests.map(({ status }) => status),
    [429, 200],
  );
  await server.close();
});

test.run();
