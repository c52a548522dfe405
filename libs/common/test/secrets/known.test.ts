/** Known secrets in every form that a tool prints, whole or in lines, and in a stream. */
import { generateKeyPairSync } from 'node:crypto';
import { redactor } from '@runner/common/secrets/redactor';
import { Secret } from '@runner/common/secrets/secret';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DUMPS, ENCODINGS, leftOf } from './encodings.ts';

const R = '[REDACTED]';
/** As code hosts and chats issue them: 40 to 93 letters, digits and signs, of which 16 are no signs. */
const secret = fc
  .stringMatching(/^[A-Za-z0-9]{4}[A-Za-z0-9_-]{35,89}$/)
  .filter((value) => value.replace(/[_-]/g, '').length >= 16);
/** What stands before and after it in what is encoded. */
const around = fc.string({ unit: 'grapheme-ascii', maxLength: 24 });

for (const [name, encode] of Object.entries({ ...ENCODINGS, ...DUMPS })) {
  test(`a known secret is not found ${name}`, () => {
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const clean = redactor([new Secret(value)])(encode(`${before}${value}${after}`));
        assert.is(leftOf(clean, value), '');
      }),
      { numRuns: Number(process.env.SECRETS ?? 100) },
    );
  });
}

test('the signs at the ends of an encoded secret are not found either', () => {
  const value = '--_a00AAAa0a0a-aa000--A0--_-00AA0---__--__';
  const redact = redactor([new Secret(value)]);
  const forms = {
    percent: (unit: number) => `%${unit.toString(16)}`,
    entities: (unit: number) => `&#${unit};`,
    json: (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`,
  };
  for (const escaped of Object.values(forms)) {
    const text = [...value].map((sign) => escaped(sign.charCodeAt(0))).join('');
    assert.is(redact(`a=${text}&b`), `a=${R}&b`);
  }
  assert.is(redact(`${value.slice(0, 9)}\n${value.slice(9)}-x`), `${R}-x`);
});

test('the common prefix of a kind of key is not part of a secret: certificates have it, too', () => {
  const pairs = [
    () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
    () => generateKeyPairSync('ed25519'),
  ];
  for (const make of pairs) {
    const key = make().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const other = make().publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const clean = redactor([new Secret(key)]);
    assert.is(clean(other), other);
    const lines = key.trim().split('\n').slice(1, -1);
    assert.is(leftOf(clean(lines.join('')), lines.join('').slice(64)), '');
  }
});

test('a secret that each line cuts with its own prefix is not found', () => {
  const prefix = fc.stringMatching(/^[a-z-]{1,12}_1 {1,3}\| $/);
  fc.assert(
    fc.property(secret, prefix, fc.constantFrom(64, 76, 60), (value, before, width) => {
      for (const form of ['base64', 'hex'] as const) {
        const lines =
          Buffer.from(`token=${value}\n`)
            .toString(form)
            .match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
        const text = lines.map((line) => `${before}${line}\n`).join('');
        assert.is(leftOf(redactor([new Secret(value)])(text).replaceAll(before, ''), value), '');
      }
    }),
  );
});

test('a prefix that repeats the start of the secret hides none of the redaction', () => {
  const value = 'aA00AA__a0A0__A_Aa00-__A-_--A000aa0-aA--Aaa-aAAAA_0-aA-_Aa0A--';
  const lines = Buffer.from(`token=${value}\n`)
    .toString('base64')
    .match(/.{1,76}/g);
  const text = lines?.map((line) => `l-_1 | ${line}\n`).join('') ?? '';
  assert.is(leftOf(redactor([new Secret(value)])(text), value), '');
});

test('text around an encoded secret is kept', () => {
  const value = 'ghx_abcdefghijklmnopqrstuvwxyz0123456789';
  const redact = redactor([new Secret(value)]);
  const base64 = Buffer.from(value).toString('base64');
  const wrapped = base64.match(/.{1,20}/g)?.join('\n');
  // The last character depends on what follows the secret.
  assert.is(redact(`before\n${wrapped}\nafter`), `before\n${R}${base64.slice(-3)}\nafter`);
  assert.is(redact(`a\nb ${value.slice(0, 9)}\\\n${value.slice(9)} c\nd`), `a\nb ${R} c\nd`);
  assert.is(
    redact('2026-11-22T04:11:58.123Z 67:68:78 abcdef012345'),
    '2026-11-22T04:11:58.123Z 67:68:78 abcdef012345',
  );
});

test('an address hides only its secret part in other encodings', () => {
  const redact = redactor([
    new Secret('https://chat.example/api/webhooks/123456789/abcdefgh'),
    new Secret('abcdefgh'),
  ]);
  assert.is(
    redact('https://chat.example/api/webhooks/123456780'),
    'https://chat.example/api/webhooks/123456780',
  );
});

test('text is held back from the possible start of an unfinished secret', () => {
  const value = 'ghx_abcdefghijklmnopqrstuvwxyz0123456789';
  const { unfinishedAt } = redactor([new Secret(value)]);
  const lines =
    Buffer.from(value)
      .toString('base64')
      .match(/.{1,20}/g) ?? [];
  assert.is(unfinishedAt('a line\n'), 7);
  assert.is(unfinishedAt(`a line\n${lines[0]}\n`), 7);
  assert.is(unfinishedAt(`a line\nx ${value.slice(0, 5)}`), 7);
  assert.is(unfinishedAt(`a line\n${'-'.repeat(9000)}${value.slice(0, 5)}`), 9007);
  assert.is(unfinishedAt(`a line\n${value}\n`), 7 + value.length + 1);
});

test('a text is never cut between the lines of a secret, even a repetitive one', () => {
  const value = 'AaA0--a0a0aAa_-A--A______4---a0a_0--AA0AAAa_aAa0__aa-0a000a_a0AA0__4';
  const lines = Buffer.from(value)
    .toString('base64')
    .match(/.{1,76}/g)
    ?.join('\n');
  assert.is(redactor([new Secret(value)]).unfinishedAt(`x\n${lines}\n`), 2);
});

test('a text is redacted the same, whatever chunks it arrives in', () => {
  const encodings = fc.constantFrom(...Object.values({ ...ENCODINGS, ...DUMPS }));
  const words = fc.array(fc.oneof(fc.constant('\n'), fc.string({ unit: 'grapheme-ascii' })));
  fc.assert(
    fc.property(
      secret,
      encodings,
      fc.tuple(words, words),
      fc.infiniteStream(fc.nat(90)),
      (value, encode, [before, after], cuts) => {
        const redact = redactor([new Secret(value)]);
        let rest = `${before.join(' ')}\n${encode(value)}\n${after.join(' ')}`;
        let [held, shown] = ['', ''];
        while (rest !== '') {
          // Whole lines, as they come from a step.
          const end = rest.indexOf('\n', cuts.next().value) + 1 || rest.length;
          const text = held + rest.slice(0, end);
          rest = rest.slice(end);
          const at = rest === '' ? text.length : redact.unfinishedAt(text);
          shown += redact(text.slice(0, at));
          held = text.slice(at);
        }
        assert.is(leftOf(shown, value), '');
      },
    ),
    { numRuns: 300 },
  );
});

test.run();
