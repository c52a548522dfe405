import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { withoutPictures } from '@runner/common/text/pictures';
import { cleanText, codePoints } from '@runner/common/text/plain';
import { createExtractor, extractError } from '@runner/extract/extract';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const MAX = 800;

const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    'Traceback (most recent call last):',
    '  File "/srv/a.py", line 3, in x',
    'KeyError: 1',
    'src/a.c:1:2: error: bad',
    'npm error code E404',
    'Error:',
    '  1) fails',
    'web-1  | ',
    '2024-01-01T00:00:00Z ',
    '{"level":50,"msg":"',
    'make: *** [x] Error 2',
    '    at f (/srv/app/a.js:1:2)',
    'Caused by: y: z',
    '\u001b[31m',
    '\r',
    '│ ',
    '==> rolling back',
    'ERROR ',
    ': ',
    '(',
  ),
);
const log = fc
  .array(fc.tuple(piece, fc.constantFrom('', '\n', '\n', '\r\n', '\r')), { maxLength: 60 })
  .map((parts) => parts.flat().join(''));
const ending = fc.record(
  {
    step: fc.constantFrom('build', 'test'),
    exit: fc.record(
      { code: fc.integer({ min: 0, max: 255 }), timedOut: fc.boolean(), oom: fc.boolean() },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

test('any bytes give at most 800 characters, and some when there is a line', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      const { text, lines } = extractError(bytes);
      assert.ok(codePoints(text) <= MAX && text.isWellFormed());
      const hasLine = cleanText(new TextDecoder().decode(bytes)).trim() !== '';
      if (hasLine) assert.ok(text !== '' && lines.length > 0);
    }),
    { numRuns: 300 },
  );
});

test('any log and limit: the limit holds, lines ascend, and every shown line is of the log', () => {
  fc.assert(
    fc.property(log, fc.integer({ min: 1, max: 900 }), ending, (text, max, end) => {
      assert.ok(codePoints(extractError(text, { ...end, max }).text) <= max);
      const done = extractError(text, { max, redact: (line) => line });
      assert.ok(codePoints(done.text) <= max);
      assert.equal(
        done.lines,
        [...new Set(done.lines)].toSorted((a, b) => a - b),
      );
      if (/\{"|2024-|web-1/.test(text)) return;
      const flat = (part: string) =>
        cleanText(withoutPictures(part).replaceAll('\r', '\n')).replace(/\s+/g, ' ');
      const all = flat(text);
      for (const shown of done.text.split('\n')) {
        // A long line keeps its head and its tail.
        for (const part of shown.replace(/ \(×\d+\)$/, '').split('…')) {
          const plain = flat(part).trim();
          // A headline stands in one line with its message.
          const joined = [...plain.matchAll(/ /g)].some(
            ({ index }) =>
              all.includes(plain.slice(0, index)) && all.includes(plain.slice(index + 1)),
          );
          assert.ok(all.includes(plain) || joined, JSON.stringify(shown));
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('the result does not depend on how the bytes were cut', () => {
  fc.assert(
    fc.property(log, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (text, sizes) => {
      const bytes = Buffer.from(text);
      const extractor = createExtractor();
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        extractor.push(bytes.subarray(at, at + size));
        at += size;
      }
      assert.equal(extractor.end(), extractError(bytes));
    }),
    { numRuns: 300 },
  );
});

/** What costs less, in microseconds, is lost in the noise of a garbage collection. */
const NOISE = 500;

/** Processor time, in microseconds: what a busy machine takes from a run does not count. */
function cost(text: string): number {
  const start = process.cpuUsage();
  extractError(text, { redact: (line) => line });
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/**
 * Cost of the text twice over its cost once. What costs the square is over 4 every time; a garbage
 * collection is only in some, so the least of up to eight measurements is taken.
 */
function ratio(text: string): number {
  cost(text);
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 8 && least >= 3; time += 1) {
    const best = (input: string) => Math.min(...[1, 2, 3].map(() => cost(input)));
    least = Math.min(least, best(text + text) / Math.max(NOISE, best(text)));
  }
  return least;
}

const HOSTILE = [
  '.',
  'a.',
  '@a/',
  'ERROR ',
  'a:',
  ' ',
  '(1',
  'x::',
  '"',
  '{"',
  '[',
  'at a.',
  '\u001b[',
  '1:',
  '| ',
  '[a] ',
  'a=b ',
  'msg="a ',
  '{"msg":"{',
  '2024-01-01T00:00:00 ',
  '\t',
  '<1>',
];

test('twice one hostile line takes about twice the time', () => {
  for (const part of HOSTILE) {
    const found = ratio(part.repeat(20_000));
    assert.ok(found < 3.5, `${JSON.stringify(part)} took ${found} times as long`);
  }
});

test('twice as many hostile lines take about twice the time', () => {
  for (const part of [
    ...HOSTILE,
    'Error: failed to reach a',
    '  File "a", line 1',
    '\tat a.b(c.js:1:2)',
  ]) {
    const line = `${part.repeat(Math.ceil(1800 / part.length))}\n`;
    const found = ratio(line.repeat(24));
    assert.ok(found < 3.5, `${JSON.stringify(part)} took ${found} times as long`);
  }
});

test('one line of 100 MB is read in passing, and what comes after it is found', () => {
  const extractor = createExtractor();
  const block = Buffer.alloc(1_048_576, 'a.');
  const before = process.memoryUsage().heapUsed;
  for (let turn = 0; turn < 100; turn += 1) extractor.push(block);
  assert.ok(process.memoryUsage().heapUsed - before < 32 * 1_048_576);
  extractor.push('\ntar: release.tgz: No space left on device\n');
  const { text, lines } = extractor.end();
  assert.is(text, 'tar: release.tgz: No space left on device');
  assert.equal(lines, [2]);
});

test('what is kept of a log does not grow with the log', () => {
  const line = (n: number) =>
    `${n % 3 === 0 ? 'ERROR: ' : ''}job ${n.toString(36)} failed to reach node\n`;
  const extractor = createExtractor();
  const block = Buffer.from(Array.from({ length: 3000 }, (_, n) => line(n * 7919)).join(''));
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let turn = 0; turn < 20; turn += 1) extractor.push(block);
  const early = used();
  for (let turn = 0; turn < 60; turn += 1) extractor.push(block);
  assert.ok(used() - early < 8 * 1_048_576);
  assert.ok(extractor.end().text.length <= MAX);
});

test.run();
