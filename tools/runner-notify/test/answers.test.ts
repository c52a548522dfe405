import type { HttpAnswer } from '@runner/common/http/request';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgeDiscord } from '../src/channels/discord/discord.ts';
import { judgeTelegram, migratedTo } from '../src/channels/telegram/answer.ts';
import type { SendOutcome } from '../src/service/contract.ts';

const line = { method: 'test', env: {}, redact: (text: string) => text.replaceAll('hush', '***') };

function answer(status: number, body: unknown, headers: Record<string, string> = {}): HttpAnswer {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** An outcome in short: `class`, then what matters in it. */
function inShort(outcome: SendOutcome): string {
  switch (outcome.class) {
    case 'delivered':
      return outcome.rest > 0 ? `delivered, rest ${outcome.rest}` : 'delivered';
    case 'wait':
      return `wait ${outcome.delay}`;
    case 'rejected':
      return `rejected${outcome.complaint ? `, ${outcome.complaint}` : ''}: ${outcome.problem.hint ?? '-'}`;
    case 'gone':
      return `gone: ${outcome.problem.hint ?? '-'}`;
    case 'retry':
      return 'retry';
  }
}

const PAGE = '<html><body>Bad Gateway</body></html>';
const error = (error_code: number, description: string, parameters?: object) => ({
  ok: false,
  error_code,
  description,
  ...(parameters && { parameters }),
});
const NETWORK = "check the server's network, and the proxy if there is one";

const TELEGRAM: readonly (readonly [name: string, given: HttpAnswer, wanted: string])[] = [
  ['ok', answer(200, { ok: true, result: { message_id: 1 } }), 'delivered'],
  ['a page with 200', answer(200, PAGE), 'retry'],
  ['JSON that is no reply', answer(200, [1]), 'retry'],
  ['an empty 204', answer(204, ''), 'retry'],
  ['a redirect, as of a captive portal', answer(302, ''), 'retry'],
  ['a 502 page', answer(502, PAGE), 'retry'],
  ['a 413 page', answer(413, PAGE), `rejected, length: ${NETWORK}`],
  ['a 404 page', answer(404, PAGE), `gone: ${NETWORK}, and the address`],
  [
    '429 with retry_after',
    answer(429, error(429, 'Too Many Requests', { retry_after: 7 })),
    'wait 7000',
  ],
  ['429 without it', answer(429, error(429, 'Too Many Requests')), 'wait 1000'],
  ['429 with the header', answer(429, error(429, ''), { 'retry-after': '3' }), 'wait 3000'],
  ['a 429 page', answer(429, PAGE, { 'retry-after': '9' }), 'wait 9000'],
  [
    '429 with nonsense',
    answer(429, error(429, '', { retry_after: 'soon' }), { 'retry-after': 'x' }),
    'wait 1000',
  ],
  ['429 for years', answer(429, error(429, '', { retry_after: 1e9 })), 'wait 86400000'],
  ['500', answer(500, error(500, 'Internal Server Error')), 'retry'],
  [
    '401',
    answer(401, error(401, 'Unauthorized')),
    'gone: check the bot token: it was revoked or is mistyped',
  ],
  [
    '404',
    answer(404, error(404, 'Not Found')),
    'gone: check the bot token, and telegram_api_url if it is set',
  ],
  [
    'an unknown chat',
    answer(400, error(400, 'Bad Request: chat not found')),
    'rejected: check that the chat_id is right, and negative for groups and channels',
  ],
  [
    'a lost topic',
    answer(400, error(400, 'Bad Request: message thread not found')),
    'rejected: check telegram_thread_id: the topic was deleted or closed',
  ],
  [
    'a kick',
    answer(403, error(403, 'Forbidden: bot was kicked from the supergroup chat')),
    'rejected: check that the bot is in the group with privacy off, or is a channel administrator',
  ],
  [
    'a block',
    answer(403, error(403, 'Forbidden: bot was blocked by the user')),
    'rejected: the person must start a chat with the bot again',
  ],
  [
    'no rights',
    answer(400, error(400, 'Bad Request: not enough rights to send text messages to the chat')),
    'rejected: check that the bot may send messages; in a channel it must be an administrator with the post-messages permission',
  ],
  [
    'wrong markup',
    answer(400, error(400, "Bad Request: can't parse entities: x")),
    'rejected, markup: -',
  ],
  [
    'a long text',
    answer(400, error(400, 'Bad Request: message is too long')),
    'rejected, length: -',
  ],
  [
    'a long raw text',
    answer(400, error(400, 'Bad Request: text is too long')),
    'rejected, length: -',
  ],
];

for (const [name, given, wanted] of TELEGRAM) {
  test(`telegram: ${name} is ${wanted}`, () => {
    assert.is(inShort(judgeTelegram(line, given)), wanted);
  });
}

test('telegram: the new id of a group keeps all its digits', () => {
  const text =
    '{"ok":false,"error_code":400,"parameters":{"migrate_to_chat_id":-1009007199254740993}}';
  assert.is(migratedTo(answer(400, text)), '-1009007199254740993');
  assert.is(migratedTo(answer(400, error(400, 'x "migrate_to_chat_id": -5'))), undefined);
  assert.is(migratedTo(answer(502, PAGE)), undefined);
});

const LONG = {
  code: 50035,
  message: 'Invalid Form Body',
  errors: {
    embeds: {
      0: {
        description: {
          _errors: [{ code: 'BASE_TYPE_MAX_LENGTH', message: 'Must be 4096 or fewer in length.' }],
        },
      },
    },
  },
};
const EMPTY_FIELD = {
  code: 50035,
  message: 'Invalid Form Body',
  errors: {
    embeds: { 0: { _errors: [{ code: 'BASE_TYPE_REQUIRED', message: 'This field is required' }] } },
  },
};
const DELETED = 'gone: check that the webhook was not deleted, and its address';

const DISCORD: readonly (readonly [name: string, given: HttpAnswer, wanted: string])[] = [
  ['the message', answer(200, { id: '1' }), 'delivered'],
  ['204', answer(204, ''), 'delivered'],
  [
    'the last of its allowance',
    answer(200, { id: '1' }, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1.25' }),
    'delivered, rest 1250',
  ],
  ['a page with 200', answer(200, PAGE), 'retry'],
  ['a redirect', answer(301, ''), 'retry'],
  ['a 502 page', answer(502, PAGE), 'retry'],
  ['503 in JSON', answer(503, { message: 'upstream', code: 0 }), 'retry'],
  [
    '429',
    answer(429, { message: 'You are being rate limited.', retry_after: 0.643, global: false }),
    'wait 643',
  ],
  ['a 429 page', answer(429, PAGE, { 'retry-after': '120' }), 'wait 120000'],
  ['429 with a header alone', answer(429, {}, { 'x-ratelimit-reset-after': '2.5' }), 'wait 2500'],
  [
    '50027',
    answer(401, { message: 'Invalid Webhook Token', code: 50027 }),
    'gone: check the webhook address: its token is not valid',
  ],
  ['10015', answer(404, { message: 'Unknown Webhook', code: 10015 }), DELETED],
  ['a 403 page', answer(403, PAGE), 'retry'],
  ['a 407 page', answer(407, PAGE), 'retry'],
  ['a 400 page', answer(400, PAGE), `rejected: ${NETWORK}, and the address`],
  ['50006', answer(400, { message: 'Cannot send an empty message', code: 50006 }), 'rejected: -'],
  ['50035 about length', answer(400, LONG), 'rejected, length: -'],
  ['50035 about something else', answer(400, EMPTY_FIELD), 'rejected: -'],
];

for (const [name, given, wanted] of DISCORD) {
  test(`discord: ${name} is ${wanted}`, () => {
    assert.is(inShort(judgeDiscord(line, given)), wanted);
  });
}

test('discord: the description has what the nested errors say', () => {
  const outcome = judgeDiscord(line, answer(400, LONG));
  assert.is(
    'problem' in outcome && outcome.problem.description,
    'Invalid Form Body; embeds.0.description: Must be 4096 or fewer in length.',
  );
});

for (const [name, judge] of [
  ['telegram', judgeTelegram],
  ['discord', judgeDiscord],
] as const) {
  test(`${name}: a description is one plain line of at most 300 characters without secrets`, () => {
    const hostile = `a\u001b[31m\nhush \u202e${'x'.repeat(9000)}`;
    const outcome = judge(line, answer(400, { ...error(400, hostile), message: hostile }));
    assert.is('problem' in outcome && outcome.problem.description, `a *** ${'x'.repeat(293)}…`);
  });

  test(`${name}: an answer of any shape is sorted`, () => {
    const bodies = [
      '',
      '{}',
      '[]',
      'null',
      '{"ok":1}',
      '{"ok":false}',
      '{"ok":false,"parameters":null}',
      '{"errors":null}',
      '{"errors":{"_errors":[null]}}',
      '{"retry_after":null}',
    ];
    for (const body of bodies) {
      for (const status of [200, 204, 302, 400, 401, 403, 404, 409, 429, 500]) {
        const sorted = judge(line, answer(status, body));
        if (status >= 300) assert.is.not(sorted.class, 'delivered', `${status} ${body}`);
      }
    }
  });
}

test.run();
