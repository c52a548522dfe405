/** Finding the chat, with a clock and a person of our own: what takes minutes on a terminal. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Bot } from '../src/channels/telegram/bot.ts';
import { detectChat } from '../src/channels/telegram/detect-chat.ts';
import type { Dialogue } from '../src/dialogue/dialogue.ts';
import type { ServiceProblem } from '../src/service/contract.ts';
import type { Reply } from '../src/service/exchange.ts';
import type { Fields } from '../src/service/fields.ts';

const ME = { id: 1, username: 'runner_bot', readsAll: true };

function problem(
  http_status: number | null,
  description: string,
  retryable: boolean,
): ServiceProblem {
  const code = http_status ?? 'ECONNRESET';
  return { method: 'getUpdates', http_status, code, description, retryable, hint: undefined };
}

/** Runs the search; each poll takes 25 s and yields the next answer, at last nothing for ever. */
async function detect(
  polls: readonly (readonly Fields[] | ServiceProblem)[],
  answers: readonly (boolean | number)[] = [],
) {
  let now = 0;
  const told: string[] = [];
  const shown: string[][] = [];
  const queue = [...polls];
  const replies = [...answers];
  const { signal } = new AbortController();
  const tell = (text: string) => {
    told.push(text);
  };
  const dialogue: Dialogue = {
    signal,
    title: tell,
    say: () => {},
    done: tell,
    warn: tell,
    ask: async () => '',
    askSecret: async () => '',
    confirm: async () => replies.shift() as boolean,
    choose: async (_question, choices) => {
      shown.push([...choices]);
      return replies.shift() as number;
    },
    during: (work) => work(signal),
    watch: (line, _key, work) => {
      told.push(line());
      return work(signal);
    },
    close: () => {},
  };
  const bot = {
    webhookHost: async () => ({ value: '' }),
    updates: async (): Promise<Reply<readonly Fields[]>> => {
      now += 25_000;
      const next = queue.shift() ?? [];
      return 'method' in next
        ? { problem: next as ServiceProblem }
        : { value: next as readonly Fields[] };
    },
  } as unknown as Bot;
  const chat = await detectChat(dialogue, bot, ME, () => now);
  return { chat, told, shown, polls: polls.length - queue.length, seconds: now / 1000 };
}

const message = (id: number): Fields => ({
  message: { chat: { id, type: 'group', title: `group ${id}` } },
});

test('after two minutes without a message the chat id is to be entered', async () => {
  const { chat, told, seconds } = await detect([]);
  assert.is(chat, undefined);
  assert.is(told.at(-1), 'No message arrived within 2 minutes');
  assert.is(seconds, 125);
  assert.match(told[0] ?? '', '… waiting for a message to @runner_bot, 120 s');
  assert.match(told[1] ?? '', ', 95 s');
});

test('temporary trouble is reported, and the search goes on', async () => {
  const { chat, told } = await detect(
    [problem(502, 'a page', true), problem(null, 'dropped', true), [message(-7)]],
    [true],
  );
  assert.is(chat?.id, '-7');
  assert.ok(told.includes('telegram: a page (getUpdates, 502)'));
  assert.ok(told.includes('telegram: dropped (getUpdates, ECONNRESET)'));
});

test('a token that is revoked meanwhile ends the search', async () => {
  let code: unknown;
  await detect([problem(401, 'Unauthorized', false)]).catch((error: { code: unknown }) => {
    code = error.code;
  });
  assert.is(code, 'token_invalid');
});

test('of very many chats the newest are offered, and that old updates hide newer ones is said', async () => {
  const updates = Array.from({ length: 100 }, (_, index) => message(-1 - (index % 40)));
  const { chat, told, shown } = await detect([updates], [11]);
  assert.is(shown[0]?.length, 14);
  assert.is(shown[0]?.[0], 'group -20 (group -20)');
  assert.is(chat?.id, '-9');
  assert.ok(
    told.includes('The bot has many old updates: newer messages may be missing from this list'),
  );
});

test('manual entry can be chosen instead of a chat that was found', async () => {
  const { chat, shown } = await detect([[message(-1)]], [false, 2]);
  assert.is(chat, undefined);
  assert.equal(shown[0], [
    'group -1 (group -1)',
    'Look again after another message',
    'Enter a chat id',
  ]);
});

test.run();
