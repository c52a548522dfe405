import { parseText } from '@runner/testing/telegram-parse';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import vectors from './vectors/telegram-parse.json' with { type: 'json' };

test("MarkdownV2 agrees with all 145 answers of Telegram's parser", () => {
  assert.is(vectors.vectors.length, 145);
  for (const { text, result } of vectors.vectors) {
    assert.equal(parseText(text, 'MarkdownV2'), result, text);
  }
});

/** The 18 reserved characters and the backslash. */
const escapeText = (text: string) => text.replace(/[_*[\]()~`>#+\-=|{}.!\\]/g, String.raw`\$&`);
const escapeCode = (text: string) => text.replace(/[`\\]/g, String.raw`\$&`);
const cleaned = (text: string) =>
  text.replace(/\r|[\u2028-\u202e]|\u0333|\u033f|\u030a/g, '').replace(/[\0-\x09\x0b-\x1f]/g, ' ');
const arrives = (text: string) => cleaned(text).replace(/^[ \n]+|[ \n]+$/g, '');
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'_*[]()~`>#+-=|{}.!\\ \n\ra0é😀\u202e') }),
);

test('text escaped with reserved characters and backslashes arrives unchanged', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const expected = arrives(text);
      const found = parseText(escapeText(text), 'MarkdownV2');
      if (expected === '') assert.not(found.ok);
      else assert.is(found.ok && found.text, expected);
    }),
    { numRuns: 300 },
  );
});

test('text escaped for code arrives unchanged in a code block', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const found = parseText(`a\n\`\`\`\n${escapeCode(text)}\n\`\`\`\nz`, 'MarkdownV2');
      assert.ok(found.ok, JSON.stringify(found));
      if (!found.ok) return;
      assert.is(found.text, `a\n${cleaned(text)}\n\nz`);
    }),
    { numRuns: 300 },
  );
});

test('any text with or without markup is either parsed or refused with words', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom('MarkdownV2' as const, undefined), (text, mode) => {
      const found = parseText(text, mode);
      if (!found.ok) assert.match(found.description, /^Bad Request: /);
      else {
        for (const { offset, length } of found.entities) {
          assert.ok(length > 0 && offset >= 0 && offset + length <= found.utf16);
        }
      }
    }),
    { numRuns: 300 },
  );
});

const READ: [string, unknown][] = [
  ['*a**b*', [['Bold', 0, 2]]],
  [
    '*b `c` b*',
    [
      ['Bold', 0, 2],
      ['Code', 2, 1],
      ['Bold', 3, 2],
    ],
  ],
  [
    '[*x* y](https://e.org)',
    [
      ['TextUrl', 0, 3, 'https://e.org/'],
      ['Bold', 0, 1],
    ],
  ],
  ['[u](tg://user?id=5)', [['MentionName', 0, 1, '5']]],
  ['![👍](tg://emoji?id=5368324170671202286)', [['CustomEmoji', 0, 2, '5368324170671202286']]],
  ['>a\n>b||', [['ExpandableBlockQuote', 0, 3]]],
  ['>a||\nb', [['ExpandableBlockQuote', 0, 2]]],
  [
    '>*a*\nb',
    [
      ['BlockQuote', 0, 2],
      ['Bold', 0, 1],
    ],
  ],
  ['```js\n1\\`\n```', [['PreCode', 0, 2, 'js']]],
];

for (const [source, expected] of READ) {
  test(`${JSON.stringify(source)} has its entities`, () => {
    const found = parseText(source, 'MarkdownV2');
    const list = found.ok && found.entities.map((entity) => Object.values(entity));
    assert.equal(list, expected);
  });
}

const REFUSED: [string, string][] = [
  ['>*b\n>ld \n>bo\nld*\nasd\ndef', "Can't find end of Bold entity at byte offset 1"],
  ['>\n*a*>2', "Character '>' is reserved and must be escaped with the preceding '\\'"],
  ['🏟 🏟__🏟 _🏟___', "Can't find end of Italic entity at byte offset 23"],
  ['[telegram\\.org](asd\\)', "Can't find end of a URL at byte offset 16"],
  ['🏟 🏟![👍]', 'Custom emoji entity must contain a tg://emoji URL'],
  ['🏟 🏟![👍](tg://emoji?id=1234', "Can't find end of a custom emoji URL at byte offset 17"],
  ['🏟 🏟```🏟 🏟_', "Can't find end of PreCode entity at byte offset 9"],
  ['>asd\n>q||e||w||\n||asdad', "Can't find end of Spoiler entity at byte offset 16"],
];

for (const [source, words] of REFUSED) {
  test(`${JSON.stringify(source)} is refused in Telegram's words`, () => {
    const found = parseText(source, 'MarkdownV2');
    assert.is(!found.ok && found.description, `Bad Request: can't parse entities: ${words}`);
  });
}

test('lengths are reported in code points and in UTF-16 units', () => {
  const found = parseText('😀😀', undefined);
  assert.equal(found, { ok: true, text: '😀😀', utf16: 4, codepoints: 2, entities: [] });
});

test.run();
