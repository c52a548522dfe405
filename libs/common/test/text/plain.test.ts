import {
  cleanText,
  codePoints,
  collapseProgress,
  cutCodePoints,
  dropControls,
  headAndTail,
  stripAnsi,
} from '@runner/common/text/plain';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FAMILY } from './plain.ts';

const FLAGS = '🇩🇪🇫🇷🇯🇵';

/** Text with everything that tools print: escapes, progress, emoji, lone surrogates. */
const foreign = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('\u001b[31m', '\u001b]8;;', '\u0007', '\u001b', '\u009b', '\r', '\r\n', '\n'),
      fc.constantFrom('\ud800', '\udc00', FAMILY, FLAGS, 'e\u0301', '\u202e', '\t', '\ufeff'),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

function graphemes(text: string): string[] {
  return [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment);
}

test('colours, cursor moves, hyperlinks and cut-off escapes go, their text stays', () => {
  assert.is(stripAnsi('\u001b[1;31merror\u001b[0m: no'), 'error: no');
  assert.is(stripAnsi('\u001b]8;;https://example.org\u0007docs\u001b]8;;\u001b\\!'), 'docs!');
  assert.is(stripAnsi('a\u009b32mb\u001b(Bc\u001b7d\u001b[3'), 'abcd');
  assert.is(stripAnsi('open \u001b]0;title without an end'), 'open 0;title without an end');
});

test('a jump to the first column draws over the line, as a carriage return does', () => {
  assert.is(cleanText('\u001b[2K\u001b[1G50 %\u001b[2K\u001b[Gdone'), 'done');
});

test('of a progress line the last state stays, and CRLF ends a line', () => {
  assert.is(collapseProgress('1 %\r50 %\r100 %\nnext\r\nlast\r'), '100 %\nnext\nlast');
  assert.is(collapseProgress('\r\r\n\r'), '\n');
});

test('control characters go but newline and tab, and text cannot change its direction', () => {
  assert.is(dropControls('a\u0000b\tc\nd\u007fe\u0085f\rg'), 'ab\tc\ndefg');
  assert.is(dropControls('user\u202etxt.exe\u2066x\u2069'), 'usertxt.exex');
  assert.is(dropControls('a\ud800b'), 'a\ufffdb');
});

test('clean text never has escapes or control characters', () => {
  fc.assert(
    fc.property(foreign, (text) => {
      const clean = cleanText(text);
      assert.not.match(
        clean,
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
      );
      assert.ok(clean.isWellFormed());
      assert.is(cleanText(clean), clean);
    }),
  );
});

test('lengths are counted in code points', () => {
  assert.is(codePoints('aé👍'), 3);
  assert.is(codePoints('\ud83d'), 1);
  fc.assert(fc.property(foreign, (text) => assert.is(codePoints(text), [...text].length)));
});

test('a cut text ends in … within the limit; one that fits is unchanged', () => {
  assert.is(cutCodePoints('abcdef', 6), 'abcdef');
  assert.is(cutCodePoints('abcdef', 5), 'abcd…');
  assert.is(cutCodePoints('abcdef', 1), '…');
  assert.is(cutCodePoints('abcdef', 0), '');
});

test('an emoji sequence, a flag or a letter with its accent is not cut in two', () => {
  assert.is(cutCodePoints(`ab${FAMILY}cd`, 6), 'ab…');
  assert.is(cutCodePoints(`${FLAGS}x`, 4), '🇩🇪…');
  assert.is(cutCodePoints('cafe\u0301s', 5), 'caf…');
  fc.assert(
    fc.property(foreign, fc.nat(60), (text, max) => {
      const cut = cutCodePoints(text, max);
      assert.ok(codePoints(cut) <= max);
      if (cut === text || cut === '') return;
      const whole = graphemes(text)
        .slice(0, graphemes(cut.slice(0, -1)).length)
        .join('');
      assert.is(cut, `${whole}…`);
    }),
  );
});

test('head and tail keep a third and two thirds, and count what is between', () => {
  const text = Array.from({ length: 200 }, (_, line) => `line ${line} of the log`).join('\n');
  const short = headAndTail(text, 400);
  const [, head = '', count, tail = ''] =
    /^([\s\S]*)\n… (\d+) characters omitted …\n([\s\S]*)$/.exec(short) ?? [];
  assert.ok(codePoints(short) <= 400);
  assert.ok(text.startsWith(`${head}\n`) && text.endsWith(`\n${tail}`));
  assert.ok(tail.length > head.length);
  assert.is(Number(count), text.length - head.length - tail.length);
});

test('head and tail never exceed the limit nor break a grapheme, and their count is right', () => {
  fc.assert(
    fc.property(foreign, fc.integer({ min: 0, max: 300 }), (piece, max) => {
      const text = `${piece}${'long line of text\n'.repeat(20)}${piece}`;
      const short = headAndTail(text, max);
      assert.ok(codePoints(short) <= max);
      const found = /\n… (\d+) characters omitted …\n/.exec(short);
      if (found === null) return;
      const head = short.slice(0, found.index);
      const tail = short.slice(found.index + found[0].length);
      assert.ok(text.startsWith(head) && text.endsWith(tail));
      assert.is(Number(found[1]), codePoints(text) - codePoints(head) - codePoints(tail));
    }),
  );
});

test.run();
