import { format, inspect } from 'node:util';
import { redactor } from '@runner/common/secrets/redactor';
import { digestOf, fingerprintOf, Secret, tokenSecret } from '@runner/common/secrets/secret';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';

const TOKEN = 'Zq7x-TOKEN_of/the+host~1';
const R = '[REDACTED]';

test('a fingerprint is the first and last four of the first twelve characters of sha256', () => {
  // printf abc | sha256sum
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.is(digestOf(new Secret('abc')), digest);
  assert.is(fingerprintOf(digest), 'tk_ba78…8f01');
  assert.is(fingerprintOf(digestOf(new Secret('é'))), 'tk_4a99…4033');
});

test('a secret never prints itself', () => {
  const secret = new Secret(TOKEN);
  const shown = [
    `${secret}`,
    String(secret),
    ['a', secret, 'b'].join(' '),
    JSON.stringify({ secret, list: [secret] }),
    inspect(secret),
    inspect({ deep: { er: [new Map([['k', secret]])] } }, { depth: 9, showHidden: true }),
    format('%s %o %O %j %d', secret, secret, secret, secret, secret),
    inspect(new Error('x', { cause: secret })),
    inspect(Object.assign(new Error('x'), { secret })),
    Object.keys(secret).join() + Object.entries(secret).join(),
    JSON.stringify(structuredClone({ ...secret })),
  ].join('\n');
  assert.not.ok(shown.includes(TOKEN));
  assert.ok(shown.includes(R));
  assert.is(secret.reveal(), TOKEN);
});

test('the final newline of a file or a prompt is not part of the token', () => {
  for (const text of [TOKEN, `${TOKEN}\n`, `${TOKEN}\r\n`]) {
    assert.is(tokenSecret(text).reveal(), TOKEN);
  }
  assert.is(tokenSecret('x'.repeat(4096)).reveal().length, 4096);
});

test('an invalid token is refused without repeating it', () => {
  const odd =
    'token_invalid: the token has characters that no code host issues: spaces, line breaks or non-ASCII';
  for (const [text, sentence] of [
    ['', 'token_invalid: the token is empty'],
    ['\n', 'token_invalid: the token is empty'],
    ['x'.repeat(4097), 'token_invalid: the token is longer than 4096 characters'],
    [`${TOKEN}\n\n`, odd],
    [` ${TOKEN}`, odd],
    [`${TOKEN} `, odd],
    [`${TOKEN}\nX-Evil: 1`, odd],
    [`${TOKEN}\u0000`, odd],
    [`${TOKEN}\u007f`, odd],
    ['tökén', odd],
  ] as const) {
    assert.is(
      told(() => tokenSecret(text)),
      sentence,
    );
  }
});

test('a token that a known secret is a part of is redacted as a whole', () => {
  const known = 'Q7f3kd9sLmZx20Vb';
  const redact = redactor([new Secret(known), new Secret('from-ghp_Ab1')]);
  const rest = '12345678901234567890';
  for (const token of [
    `ghp_${known}${rest}`,
    `ghp_${rest}${known}1234`,
    `ghp_${known}1234`,
    `from-ghp_Ab1${rest}`,
  ])
    assert.is(redact(`token ${token} end`), `token ${R} end`);
  assert.is(redact(`ghp_${known.slice(0, 9)}\u200b${known.slice(9)}${rest}`), R);
  assert.is(redact(`Authorization: Bearer abc${known}xyz`), `Authorization: Bearer ${R}`);
  assert.is(redact(`key=${known}, ${known}`), `key=${R}, ${R}`);
});

/** Ways in which a tool may print a value of which it knows the bytes. */
const ENCODINGS: Readonly<
  Record<string, (value: string, before: string, after: string) => string>
> = {
  'as it is': (value, before, after) => before + value + after,
  'in base64': (value, before, after) => Buffer.from(before + value + after).toString('base64'),
  'in base64url': (value, before, after) =>
    Buffer.from(before + value + after).toString('base64url'),
  'in a URL': (value, before, after) => `https://x/${before}${encodeURIComponent(value)}?${after}`,
  'in JSON': (value, before, after) => JSON.stringify({ [before]: `${after}${value}${before}` }),
  'in hex': (value, before, after) => before + Buffer.from(value).toString('hex') + after,
  'in upper-case hex': (value, before, after) =>
    before + Buffer.from(value).toString('hex').toUpperCase() + after,
};

for (const [way, encode] of Object.entries(ENCODINGS)) {
  test(`a known secret is not found ${way}, wherever it is`, () => {
    const secret = fc.stringMatching(/^[!-~]{8,60}$/);
    const around = fc.string({ unit: 'grapheme-ascii', maxLength: 9 });
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const clean = redactor([new Secret(value)])(encode(value, before, after));
        assert.not.ok(clean.includes(value) && !R.includes(value), 'it stands there as it is');
        for (const form of ['base64', 'base64url', 'hex'] as const) {
          // What is left of it may be the characters that it shares with its neighbours.
          for (let shift = 0; shift < 3; shift += 1) {
            const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)])
              .toString(form)
              .replace(/=+$/, '');
            const middle = text.slice(form === 'hex' ? 2 * shift : shift + 1, -2);
            assert.not.ok(
              middle.length >= 6 && clean.includes(middle),
              `it stands there in ${form}`,
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  });
}

test('a secret of any characters is not found in JSON or a URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 8 }), (value) => {
      const redact = redactor([new Secret(value)]);
      assert.not.ok(redact(JSON.stringify([value])).includes(JSON.stringify(value).slice(1, -1)));
      assert.not.ok(redact(encodeURIComponent(value)).includes(encodeURIComponent(value)));
    }),
  );
});

test('nothing remains of two known secrets when one contains the other', () => {
  const redact = redactor([new Secret('abcdefgh'), new Secret('abcdefghijkl')]);
  assert.is(redact('x abcdefghijkl abcdefgh y'), `x ${R} ${R} y`);
});

test('a secret too short to distinguish from ordinary text is not redacted', () => {
  assert.is(redactor([new Secret('12345')])('in 12345 ms'), 'in 12345 ms');
  assert.is(redactor([new Secret('')])('in 12345 ms'), 'in 12345 ms');
});

test('a secret with characters that mean something in a pattern or a replacement is redacted', () => {
  for (const value of ['$&$1$$..', '.*+?^${}()|[]\\', "$`$'$<x>"]) {
    assert.is(redactor([new Secret(value)])(`a ${value} b`), `a ${R} b`);
  }
});

const A36 = 'abcdefghijklmnopqrstuvwxyz0123456789';
const HIDDEN: readonly (readonly [text: string, shown: string])[] = [
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((kind) => [`x ${kind}_${A36} y`, `x ${R} y`] as const),
  [`github_pat_11ABCDEFG0_${A36}${A36}`, R],
  [`glpat-${A36.slice(0, 20)}`, R],
  [`npm_${A36}`, R],
  ['xoxb-123456789012-abcdefghij', R],
  ['sk_live_abcdefghijklmnop1234', R],
  [`sk-proj-${A36}`, R],
  ['AKIAIOSFODNN7EXAMPLE', R],
  ['AIzaSyA-1234567890abcdefghijklmnopqrstu', R],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0aaa.c2lnbmF0dXJlc2ln', R],
  ['eyJhbGciOiJkaXIifQaa.AAAAAAAAAAAA.BBBBBBBBBBBBBBBB.CCCCCCCCCC.DDDDDDDDDDDD', R],
  ['bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', `bot${R}`],
  [
    'https://api.telegram.org/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe',
    `https://api.telegram.org/bot${R}/getMe`,
  ],
  [
    'https://discord.com/api/webhooks/123456789012345678/abcDEF-ghi_jkl',
    `https://discord.com/api/webhooks/123456789012345678/${R}`,
  ],
  [
    'https://ptb.discord.com/api/v10/webhooks/123456789012345678/abcDEF-ghi_jkl?wait=true',
    `https://ptb.discord.com/api/v10/webhooks/123456789012345678/${R}?wait=true`,
  ],
  ['https://user:hunter2@example.org/x', `https://${R}@example.org/x`],
  ['https://ghp_short@github.com/a/b.git', `https://${R}@github.com/a/b.git`],
  ['postgres://app:pa%40ss@db:5432/x', `postgres://${R}@db:5432/x`],
  ['Authorization: Bearer abcd.efgh-1', `Authorization: Bearer ${R}`],
  ['authorization: basic dXNlcjpwYXNz', `authorization: basic ${R}`],
  ['"authorization":"token 0123456789"', `"authorization":"token ${R}"`],
  ['curl -H "Authorization: Bearer abcdefgh"', `curl -H "Authorization: Bearer ${R}"`],
  ['password=hunter22', `password=${R}`],
  ['DB_PASSWORD: hunter22', `DB_PASSWORD: ${R}`],
  ['"client_secret":"s3cr3tvalue"', `"client_secret":"${R}"`],
  ["API_KEY='0123456789'", `API_KEY='${R}'`],
  ['--access-token=0123456789', `--access-token=${R}`],
  [
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\nAAKCAQEA\n-----END RSA PRIVATE KEY-----\nx',
    `${R}\nx`,
  ],
  ['-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXkt', R],
  // Right behind a line break that JSON wrote as `\n`, a letter or a sign.
  ...[
    `ghp_${A36}`,
    `github_pat_11ABCDEFG0_${A36}${A36}`,
    `glpat-${A36.slice(0, 20)}`,
    `npm_${A36}`,
    'xoxb-123456789012-abcdefghij',
    'sk_live_abcdefghijklmnop1234',
    `sk-proj-${A36}`,
    'AKIAIOSFODNN7EXAMPLE',
    'AIzaSyA-1234567890abcdefghijklmnopqrstu',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0aaa.c2lnbmF0dXJlc2ln',
  ].flatMap((token) =>
    ['{"log":"a\\n', 'TOKEN', 'token_', 'a '].map(
      (before) => [before + token, before + R] as const,
    ),
  ),
  ['a\\nAuthorization: Basic dXNlcjpwYXNz', `a\\nAuthorization: Basic ${R}`],
];

for (const [text, shown] of HIDDEN) {
  test(`\`${text.slice(0, 50).replaceAll('\n', '⏎')}\` is recognized by its shape`, () => {
    assert.is(redactor()(text), shown);
    assert.is(redactor()(redactor()(text)), shown, 'twice');
  });
}

const LEFT: readonly string[] = [
  'npm ERR! code ELIFECYCLE',
  '/home/app/releases/20260101T120000-0123456789ab/node_modules/.bin/tsc',
  'at Object.<anonymous> (/srv/app/src/index.js:10:15)',
  'HEAD is now at 3f9a21c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6 Fix it',
  'sha512-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zw==',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'npm notice integrity: sha512-abcdef',
  'https://registry.example.org/left-pad/-/left-pad-1.3.0.tgz',
  'http://localhost:3000/users/42?sort=name@asc',
  'git@github.com:owner/name.git',
  'mail to ops@example.org: it failed',
  'Enter password:',
  'Password: ',
  'password: [REDACTED]',
  'password: null, secret: undefined',
  'password=${DB_PASSWORD} secret=$(cat x)',
  'cannot read /home/ada/webhook-secret: permission denied; name - instead',
  'token count: 5',
  'Unexpected token < in JSON at position 0',
  'SyntaxError: Unexpected token ) (12:34)',
  'the bearer of bad news',
  'Authorization: none',
  'secret: true',
  'error TS2304: Cannot find name secretKeeper.',
  'ratio 10:12 at 2026-01-01T12:30:45.123Z',
  '12345:67890',
  'skipping sk-test, sk-2',
  'the task-management-and-scheduling-library-of-a-company',
  'running task_test_integrationscenarios',
  'at keyJournalEntries.serviceOfJournal.methodOfService',
  'asset main-4f2a9c1b.js 1.2 MiB [emitted] [minimized]',
  'warning: ghp_short',
  'Compiled eyJ.a.b',
  'user uuid 123e4567-e89b-12d3-a456-426614174000',
  '-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----',
];

for (const text of LEFT) {
  test(`\`${text.slice(0, 50).replaceAll('\n', '⏎')}\` is left as it is`, () => {
    assert.is(redactor()(text), text);
  });
}

/** Processor time of the cheapest of three runs, in milliseconds: a busy machine does not count. */
function fastest(work: () => void): number {
  const times = [0, 1, 2].map(() => {
    const started = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

test('twice the text takes at most about twice the time, whatever its content', () => {
  const redact = redactor([new Secret(TOKEN), new Secret('aaaaaaaaaaaaaaab')]);
  const pieces = [
    'a',
    'gh',
    'ghp_',
    'eyJa.',
    'eyJ',
    'https://',
    'https://a',
    'a:',
    'a://',
    '1',
    '12345:',
    'password',
    'password=',
    'bearer ',
    'authorization: ',
    '-----BEGIN ',
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----BEGIN RSA PRIVATE KEY-----\n',
    '-----END RSA PRIVATE KEY-----',
    'PRIVATE KEY\nMIIEpAIB',
    'sk-',
    'x_-',
    'secret-',
    ' ',
    '\n',
    '"',
    '@',
    'https://x/api/webhooks/',
    'Z',
  ];
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(60_000 / piece.length));
    const once = fastest(() => redact(text));
    const twice = fastest(() => redact(text + text));
    assert.ok(
      twice < 3 * once + 30,
      `${JSON.stringify(piece)}: ${once.toFixed(0)} ms, then ${twice.toFixed(0)} ms`,
    );
    assert.ok(twice < 2000, `${JSON.stringify(piece)}: ${twice.toFixed(0)} ms`);
  }
});

test.run();
