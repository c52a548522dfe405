import { type DiscordOptions, startDiscord } from '@runner/testing/discord';
import { checkMessage, embedLength, lengthOf } from '@runner/testing/discord-rules';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

async function discord(options: DiscordOptions = {}) {
  const server = await startDiscord(options);
  const post = async (body: unknown, query = '?wait=true') => {
    const response = await fetch(server.webhook + query, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  };
  return { server, post };
}

const codeIn = (errors: unknown, path: (string | number)[]): string => {
  let at = errors as Record<string, unknown>;
  for (const step of path) at = at[String(step)] as Record<string, unknown>;
  return (at._errors as { code: string }[])[0]?.code ?? '';
};

const LIMITS: [string, number, (text: string) => unknown, (string | number)[]][] = [
  ['content', 2000, (text) => ({ content: text }), ['content']],
  ['title', 256, (title) => ({ embeds: [{ title }] }), ['embeds', 0, 'title']],
  [
    'description',
    4096,
    (description) => ({ embeds: [{ description }] }),
    ['embeds', 0, 'description'],
  ],
  [
    'field name',
    256,
    (name) => ({ embeds: [{ fields: [{ name, value: 'v' }] }] }),
    ['embeds', 0, 'fields', 0, 'name'],
  ],
  [
    'field value',
    1024,
    (value) => ({ embeds: [{ fields: [{ name: 'n', value }] }] }),
    ['embeds', 0, 'fields', 0, 'value'],
  ],
  ['footer', 2048, (text) => ({ embeds: [{ footer: { text } }] }), ['embeds', 0, 'footer', 'text']],
  ['author', 256, (name) => ({ embeds: [{ author: { name } }] }), ['embeds', 0, 'author', 'name']],
  ['username', 80, (username) => ({ content: 'x', username }), ['username']],
];

for (const [what, limit, body, path] of LIMITS) {
  test(`${what}: ${limit} code points after trimming, and not one more`, () => {
    for (const unit of ['a', 'é', '😀']) {
      assert.is(checkMessage(body(`  ${unit.repeat(limit)}\n`)), null);
      assert.match(codeIn(checkMessage(body(unit.repeat(limit + 1))), path), /LENGTH/);
    }
  });
}

test('6000 code points over all embeds, and not one more', () => {
  const parts = (rest: number) => ({
    embeds: [
      { description: 'd'.repeat(4000), author: { name: '😀'.repeat(100) } },
      {
        title: 't'.repeat(100),
        footer: { text: 'f'.repeat(rest) },
        fields: [{ name: 'n'.repeat(100), value: 'v'.repeat(700) }],
      },
    ],
  });
  assert.is(checkMessage(parts(1000)), null);
  assert.is(codeIn(checkMessage(parts(1001)), ['embeds']), 'MAX_EMBED_SIZE_EXCEEDED');
  assert.is(embedLength(parts(7).embeds[1] ?? {}), 907);
});

test('10 embeds and 25 fields, and not one more', () => {
  const embeds = (count: number) => ({ embeds: Array(count).fill({ title: 't' }) });
  assert.is(checkMessage(embeds(10)), null);
  assert.is(codeIn(checkMessage(embeds(11)), ['embeds']), 'BASE_TYPE_MAX_LENGTH');
  const fields = (count: number) => ({
    embeds: [{ fields: Array(count).fill({ name: 'n', value: 'v' }) }],
  });
  assert.is(checkMessage(fields(25)), null);
  assert.is(codeIn(checkMessage(fields(26)), ['embeds', 0, 'fields']), 'BASE_TYPE_MAX_LENGTH');
});

const WRONG: [string, unknown, (string | number)[], string][] = [
  [
    'an empty field value',
    { embeds: [{ fields: [{ name: 'n', value: ' ' }] }] },
    ['embeds', 0, 'fields', 0, 'value'],
    'BASE_TYPE_REQUIRED',
  ],
  [
    'a field without a name',
    { embeds: [{ fields: [{ value: 'v' }] }] },
    ['embeds', 0, 'fields', 0, 'name'],
    'BASE_TYPE_REQUIRED',
  ],
  [
    'a colour beyond 24 bits',
    { embeds: [{ color: 0x1000000 }] },
    ['embeds', 0, 'color'],
    'NUMBER_TYPE_MAX',
  ],
  [
    'a colour as text',
    { embeds: [{ color: '#fff' }] },
    ['embeds', 0, 'color'],
    'NUMBER_TYPE_COERCE',
  ],
  [
    'an invalid time',
    { embeds: [{ timestamp: 'yesterday' }] },
    ['embeds', 0, 'timestamp'],
    'DATE_TIME_TYPE_PARSE',
  ],
  [
    'an invalid address',
    { embeds: [{ url: 'example' }] },
    ['embeds', 0, 'url'],
    'URL_TYPE_INVALID_URL',
  ],
  [
    'another scheme',
    { embeds: [{ url: 'ftp://example.org' }] },
    ['embeds', 0, 'url'],
    'URL_TYPE_INVALID_SCHEME',
  ],
  ['embeds that are no list', { embeds: {} }, ['embeds'], 'LIST_TYPE_CONVERT'],
  ['an embed that is no object', { embeds: ['x'] }, ['embeds', 0], 'MODEL_TYPE_CONVERT'],
  ['a body that is no object', [], [], 'MODEL_TYPE_CONVERT'],
  ['content that is no text', { content: 5 }, ['content'], 'STRING_TYPE_CONVERT'],
  [
    'an unknown mention',
    { content: 'x', allowed_mentions: { parse: ['all'] } },
    ['allowed_mentions', 'parse', 0],
    'BASE_TYPE_CHOICES',
  ],
  [
    'mentions that exclude each other',
    { content: 'x', allowed_mentions: { parse: ['users'], users: ['1'] } },
    ['allowed_mentions'],
    'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
  ],
  [
    'an invalid id',
    { content: 'x', allowed_mentions: { users: ['01'] } },
    ['allowed_mentions', 'users', 0],
    'NUMBER_TYPE_COERCE',
  ],
  ['an invalid flag', { content: 'x', tts: 'yes' }, ['tts'], 'BOOLEAN_TYPE_CONVERT'],
  ['a misspelt name', { embeds: [{ colour: 1 }] }, ['embeds', 0, 'colour'], 'UNKNOWN_FIELD'],
];

for (const [what, body, path, code] of WRONG) {
  test(`${what}: refused at its place`, () => {
    assert.is(codeIn(checkMessage(body), path), code);
  });
}

test('any JSON is either taken or refused', () => {
  fc.assert(fc.property(fc.jsonValue(), (body) => void checkMessage(body)));
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) =>
      assert.is(lengthOf(text), [...text.trim()].length),
    ),
  );
});

test('five messages in two seconds, announced in headers', async () => {
  let time = 0;
  const { server, post } = await discord({ rates: 1, now: () => time });
  for (let n = 4; n >= 0; n -= 1) {
    const { status, headers } = await post({ content: 'x' });
    assert.is(status, 200);
    assert.is(headers.get('x-ratelimit-limit'), '5');
    assert.is(headers.get('x-ratelimit-remaining'), String(n));
  }
  time = 500;
  const { status, headers, body } = await post({ content: 'x' });
  assert.is(status, 429);
  assert.equal([body.global, body.retry_after], [false, 1.5]);
  assert.is(headers.get('retry-after'), '2');
  assert.is(headers.get('x-ratelimit-reset-after'), '1.500');
  assert.is(headers.get('x-ratelimit-scope'), 'user');
  time = 2_000;
  assert.is((await post({ content: 'x' })).status, 200);
  await server.close();
});

test('thirty messages a minute in a channel, shared and not announced', async () => {
  let time = 0;
  const { server, post } = await discord({ rates: 10, now: () => time });
  server.occupyChannel(29);
  const last = await post({ content: 'x' });
  assert.equal([last.status, last.headers.get('x-ratelimit-remaining')], [200, '4']);
  time = 1_000;
  const { status, headers, body } = await post({ content: 'x' });
  assert.equal([status, headers.get('x-ratelimit-scope'), body.retry_after], [429, 'shared', 5]);
  await server.close();
});

test.run();
