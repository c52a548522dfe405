import { harmless, harmlessLine, jsonEscapes, jsonLine } from '@runner/common/text/harmless';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** What may reach a terminal: printable characters, newline and tab. Written without UNSAFE. */
function isSafe(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code === 0x0a || code === 0x09) continue;
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false;
    if (code >= 0xd800 && code <= 0xdfff) return false;
    if (code === 0x061c || code === 0xfeff) return false;
    if (code === 0x200e || code === 0x200f || (code >= 0x2028 && code <= 0x202e)) return false;
    if (code >= 0x2066 && code <= 0x2069) return false;
  }
  return true;
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc
      .oneof(
        fc.integer({ min: 0, max: 0x9f }),
        fc.integer({ min: 0x2000, max: 0x2070 }),
        fc.constantFrom(0x61c, 0xfeff, 0xd83d, 0xdc31, 0xdbff, 0xd800, 0x41, 0xe9),
      )
      .map((code) => String.fromCharCode(code)),
  }),
);

test('control and bidirectional characters are shown, everything else is left', () => {
  for (const [text, shown] of [
    ['plain é 日本 🐱\n\ttab', 'plain é 日本 🐱\n\ttab'],
    ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['a\rb\bc\u0007d\u007fe\u0000', 'a\\x0db\\x08c\\x07d\\x7fe\\x00'],
    ['\u009b31m\u0085', '\\x9b31m\\x85'],
    [
      '\u202eevil\u202c \u2066x\u2069 \u200f\u061c',
      '\\u202eevil\\u202c \\u2066x\\u2069 \\u200f\\u061c',
    ],
    ['\u2028\u2029\ufeff', '\\u2028\\u2029\\ufeff'],
    ['\ud800 \udc00 \ud83d', '\\ud800 \\udc00 \\ud83d'],
    ['', ''],
  ] as const) {
    assert.is(harmless(text), shown);
  }
  assert.is(harmlessLine('a\nb\tc\u001b'), 'a\\nb\\tc\\x1b');
});

test('no unsafe character survives, newline and tab do', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = harmless(text);
      assert.ok(isSafe(shown));
      const ends = (each: string) => each.replace(/[^\n\t]/g, '');
      assert.is(ends(shown), ends(text));
      assert.ok(isSafe(harmlessLine(text)) && !/[\n\t]/.test(harmlessLine(text)));
    }),
    { numRuns: 300 },
  );
});

test('text that is safe already is left alone, so doing it twice changes nothing', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      if (isSafe(text)) assert.is(harmless(text), text);
      assert.is(harmless(harmless(text)), harmless(text));
      assert.is(jsonEscapes(harmless(text)), harmless(text));
    }),
  );
});

test('a value is written as one safe line of JSON that JSON.parse reads back', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), hostile, hostile, (value, key, text) => {
      const whole = { value, [key === '__proto__' ? 'x' : key]: text };
      const line = jsonLine(whole);
      assert.ok(isSafe(line) && !line.includes('\n') && !line.includes('\t'));
      assert.equal(JSON.parse(line), JSON.parse(JSON.stringify(whole)));
      assert.equal(JSON.parse(line)[key === '__proto__' ? 'x' : key], text);
    }),
    { numRuns: 300 },
  );
});

test.run();
