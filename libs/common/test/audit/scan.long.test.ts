import { closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { gzipLines, Unread } from '@runner/common/audit/files';
import { newestFailure } from '@runner/common/audit/scan';
import { linesBackward } from '@runner/common/files/lines-backward';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freshRoot, plant, scratch } from '../files/scratch.ts';

const NOTHING = new Uint8Array();
const DAMAGED = 'it is damaged or cut short';

function backward(
  text: string | Uint8Array,
  needle: Uint8Array = NOTHING,
  also: Uint8Array = NOTHING,
): string[] {
  const path = join(scratch(), 'log');
  plant(path, text);
  const fd = openSync(path, 'r');
  try {
    const lines: string[] = [];
    for (const { line } of linesBackward(fd, needle, { also })) lines.push(line.toString());
    return lines;
  } finally {
    closeSync(fd);
    unlinkSync(path);
  }
}

/** The lines of a text, last first, by reading it from its beginning. */
function naively(text: string, needle = ''): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.reverse().filter((line) => line.includes(needle));
}

const find = (paths: ReturnType<typeof freshRoot>) => newestFailure(paths, 'api', new Unread());
const line = (record: unknown) => `${JSON.stringify(record)}\n`;

test('lines are read backwards, with or without a final newline', () => {
  assert.equal(backward('a\nb\nc\n'), ['c', 'b', 'a']);
  assert.equal(backward('a\nb\nc'), ['c', 'b', 'a']);
  assert.equal(backward('\na\n\n\nb\n\n'), ['', 'b', '', '', 'a', '']);
  assert.equal(backward('\n'), ['']);
  assert.equal(backward('a'), ['a']);
  assert.equal(backward(''), []);
});

test('only lines that contain the needle are returned, each once', () => {
  const needle = Buffer.from('x');
  assert.equal(backward('xx\na\nbxbx\nx\n\n', needle), ['x', 'bxbx', 'xx']);
  assert.equal(backward('a\nb', needle), []);
  assert.equal(backward('ax', needle), ['ax']);
});

test('a line must contain both needles, in any order', () => {
  const pieces = ['ab', 'cd', 'x', ''];
  const lineOf = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((all) => all.join('-'));
  fc.assert(
    fc.property(fc.array(lineOf, { maxLength: 12 }), fc.constantFrom('', '\n'), (lines, end) => {
      const text = lines.join('\n') + end;
      assert.equal(
        backward(text, Buffer.from('ab'), Buffer.from('cd')),
        naively(text, 'ab').filter((each) => each.includes('cd')),
      );
    }),
    { numRuns: 300 },
  );
});

/** Lengths of lines that make line ends fall on and around the ends of blocks. */
const EDGES = [
  0, 1, 2, 16_381, 16_382, 16_383, 16_384, 16_385, 16_386, 32_768, 65_536, 262_143, 262_144,
  262_145,
];
const someLines = fc.array(
  fc.tuple(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...EDGES) },
      { weight: 3, arbitrary: fc.nat(9000) },
    ),
    fc.constantFrom('-', 'x', '\u0000', 'é'),
  ),
  { maxLength: 30 },
);

test('a reader from the end finds the lines that a reader from the beginning finds', () => {
  fc.assert(
    fc.property(
      someLines,
      fc.constantFrom('', '\n'),
      fc.constantFrom('', 'x'),
      (lines, end, needle) => {
        const text =
          lines
            .map(([length, filling], index) =>
              length === 0 ? '' : `${index}${filling.repeat(length)}`.slice(0, length),
            )
            .join('\n') + end;
        assert.ok(
          JSON.stringify(backward(text, Buffer.from(needle))) ===
            JSON.stringify(naively(text, needle)),
          'the two readers differ',
        );
      },
    ),
    { numRuns: 150 },
  );
});

test('every distance of a line end from the end of a block is read the same', () => {
  for (let length = 16_374; length <= 16_394; length += 1) {
    for (const head of ['', '\n', 'a\n', 'abc\n\n']) {
      const text = `${head}${'b'.repeat(length)}\nc\n`;
      assert.equal(backward(text), naively(text));
    }
  }
});

test('a line longer than 16 MiB is passed over, its neighbours are not', () => {
  const text = `a\n${'x'.repeat(40 * 1024 * 1024)}\nb\n`;
  assert.equal(backward(text), ['b', 'a']);
  const longest = 'y'.repeat(12 * 1024 * 1024);
  assert.ok(backward(`a\n${longest}\nb\n`)[1] === longest);
});

const record = fc.record(
  {
    event_type: fc.constantFrom('DeployFailure', 'DeploySuccess', 1, null),
    event: fc.constantFrom('DeployFailure', 'DeployStarted'),
    project: fc.constantFrom('api', 'api-2', 'ap', '__proto__', 7),
    app: fc.constantFrom('api', 'other', 'api"'),
    error: fc.constantFrom(
      '"project":"api"',
      'x'.repeat(20_000),
      'x'.repeat(300_000),
      'line\nline',
      '\u2028',
    ),
    number: fc.nat(),
  },
  { requiredKeys: ['number'] },
);
const piece = fc.oneof(
  { weight: 6, arbitrary: record.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: record.map((value) => JSON.stringify(value).slice(0, -3)) },
  { weight: 1, arbitrary: record.map((value) => JSON.stringify(value).slice(9)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\u0000\u0000',
      '"api"',
      '[{"project":"api"}]',
      'null',
      '{"project":"api"',
      'api\r',
      '{}',
    ),
  },
);
const someLog = fc.array(piece, { maxLength: 25 });

/** The newest record of the oldest-first texts, read from the beginning to the end. */
function newestNaively(texts: readonly string[]): unknown {
  let newest: unknown;
  for (const each of texts.flatMap((text) => text.split('\n'))) {
    try {
      const value = JSON.parse(each);
      if ((value.event_type ?? value.event) !== 'DeployFailure') continue;
      if ((value.project ?? value.app) === 'api') newest = value;
    } catch {
      // Not a record.
    }
  }
  return newest;
}

test('the newest failure is the one a naive reader of all files finds', async () => {
  const paths = freshRoot();
  await fc.assert(
    fc.asyncProperty(someLog, someLog, someLog, fc.boolean(), async (oldest, older, live, torn) => {
      const texts = [oldest, older, live].map((pieces) => pieces.join('\n') + (torn ? '' : '\n'));
      const [first = '', second = '', third = ''] = texts;
      plant(`${paths.auditLog}.2.gz`, gzipSync(first));
      plant(`${paths.auditLog}.1`, second);
      plant(paths.auditLog, third);
      const found = await find(paths);
      assert.ok(
        JSON.stringify(found) === JSON.stringify(newestNaively(texts)),
        'the two readers differ',
      );
    }),
    { numRuns: 150 },
  );
});

test('lines of a compressed file keep their ends at every size', async () => {
  const path = join(scratch(), 'log.gz');
  const long = 'z'.repeat(12 * 1024 * 1024);
  plant(path, gzipSync(`a\n\n${long}\n${'x'.repeat(20 * 1024 * 1024)}\nb`));
  const fd = openSync(path, 'r');
  const lengths: (number | undefined)[] = [];
  for await (const each of gzipLines(fd, assert.unreachable)) lengths.push(each?.length);
  closeSync(fd);
  assert.equal(lengths, [1, 0, long.length, undefined, 1]);
});

test('a compressed file cut anywhere yields every whole line before the cut', async () => {
  const texts = Array.from({ length: 40 }, (_, number) =>
    line({ number, error: Math.random().toString(36).repeat(20) }),
  );
  const whole = gzipSync(texts.join(''));
  const path = join(scratch(), 'log.gz');
  for (let size = 0; size < whole.length; size += 1 + Math.floor(size / 20)) {
    const cut = whole.subarray(0, size);
    const readable = size < 11 ? '' : gunzipSync(cut, { finishFlush: 2 }).toString();
    plant(path, cut);
    const fd = openSync(path, 'r');
    const told: string[] = [];
    const lines: string[] = [];
    for await (const each of gzipLines(fd, (why) => told.push(why))) lines.push(String(each));
    closeSync(fd);
    assert.equal([lines.join('\n'), told], [readable.replace(/\n$/, ''), [DAMAGED]], `${size}`);
  }
});

test('a wrong checksum loses only the last line; a damaged block loses what follows it', async () => {
  const path = join(scratch(), 'log.gz');
  for (const [count, share] of [
    [3, 1],
    [60_000, 1],
    [60_000, 0.8],
  ] as const) {
    const lines = Array.from({ length: count }, (_, number) =>
      line({ number, error: 'x'.repeat(100 + (number % 7)) }),
    );
    const spoilt = gzipSync(lines.join(''));
    // The check sum is before the four bytes of the length.
    const at = share === 1 ? spoilt.length - 8 : Math.floor(spoilt.length * share);
    for (let each = at; each < at + 4; each += 1) spoilt[each] = (spoilt[each] ?? 0) ^ 0xff;
    plant(path, spoilt);
    const fd = openSync(path, 'r');
    const told: string[] = [];
    let whole = 0;
    for await (const each of gzipLines(fd, (why) => told.push(why)))
      if (`${each}\n` === lines[whole]) whole += 1;
    closeSync(fd);
    assert.equal(told, [DAMAGED]);
    assert.ok(whole >= (share === 1 ? count - (count > 1000 ? 10 : 1) : count * 0.7), `${whole}`);
  }
});

test.run();
