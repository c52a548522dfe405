import {
  cells,
  fields,
  pad,
  type Style,
  styleFor,
  table,
  yamlText,
} from '@runner/common/cli/output';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';

const asIs = (text: string) => text;
const plain: Style = { bold: asIs, cyan: asIs, dim: asIs, green: asIs, red: asIs, yellow: asIs };
const UNSAFE =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u;

test('YAML output matches the documentation', async () => {
  const value = {
    app: 'blog',
    apps: ['a', 'b'],
    count: 2,
    error: 'one\ntwo\n',
    none: null,
    yes: true,
    text: 'yes',
    id: '007',
  };
  assert.is(
    await yamlText(value),
    `app: blog
apps:
  - a
  - b
count: 2
error: |
  one
  two
none: null
"yes": true
text: "yes"
id: "007"
`,
  );
});

test('YAML of any value is safe for a terminal and gives the value back', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(
        '\u001b',
        '\r',
        '\n',
        '\t',
        '\u0000',
        '\u0085',
        '\u2028',
        '\u202e',
        '\ufeff',
        '\u007f',
        'a',
        ' ',
        ':',
        '-',
        '#',
        '"',
        "'",
        '\\',
        '|',
        '>',
        '&',
        '*',
        '!',
        '%',
        '@',
        '?',
        '{',
        '[',
        ',',
        'é',
        '🐱',
      ),
    }),
    fc.constantFrom(
      '~',
      'null',
      'true',
      '1e3',
      '0x1',
      '.inf',
      '<<',
      '__proto__',
      '---',
      '...',
      '- a',
      '? a',
      '1_000',
      '2026-01-01',
      '=',
      '!!str',
      '',
      ' ',
      '\n',
      '\n\n',
      ' a\n b',
      'x'.repeat(200),
    ),
  );
  const key = hostile.filter((text) => text !== '__proto__');
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      hostile,
      fc.oneof(
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(key, tie('node'), { maxKeys: 4 }),
    ),
  })).node;
  await fc.assert(
    fc.asyncProperty(value, async (each) => {
      const text = await yamlText(each);
      assert.not.match(text, UNSAFE);
      const wanted = JSON.parse(JSON.stringify(each));
      assert.equal(parse(text, { uniqueKeys: false }), wanted);
      assert.ok(text.endsWith('\n'));
    }),
    { numRuns: 300 },
  );
});

test('a lone surrogate in YAML is an escape, which loses nothing', async () => {
  assert.is((await yamlText({ a: 'x\ud800y' })).trim(), 'a: "x\\ud800y"');
});

const on = '\u001b[1mx\u001b[22m';

test('--color decides, then NO_COLOR, then FORCE_COLOR, then the terminal, and CI never', async () => {
  const rows: readonly (readonly [
    'auto' | 'always' | 'never',
    Record<string, string>,
    boolean,
    boolean,
  ])[] = [
    ['auto', {}, true, true],
    ['auto', {}, false, false],
    ['auto', { CI: '1' }, false, false],
    ['auto', { CI: '1' }, true, true],
    ['auto', { TERM: 'dumb' }, true, false],
    ['auto', { NO_COLOR: '1' }, true, false],
    ['auto', { NO_COLOR: '0' }, true, false],
    ['auto', { NO_COLOR: '' }, true, true],
    ['auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['auto', { FORCE_COLOR: '1' }, false, true],
    ['auto', { FORCE_COLOR: '3', TERM: 'dumb' }, false, true],
    ['auto', { FORCE_COLOR: '0' }, true, false],
    ['auto', { FORCE_COLOR: 'false' }, true, false],
    ['auto', { FORCE_COLOR: '' }, true, true],
    ['auto', { FORCE_COLOR: '' }, false, false],
    ['always', { NO_COLOR: '1', FORCE_COLOR: '0', TERM: 'dumb' }, false, true],
    ['never', { FORCE_COLOR: '1' }, true, false],
  ];
  for (const [when, env, isTTY, coloured] of rows) {
    const { bold } = await styleFor(when, env, { isTTY });
    const shown = bold('x');
    assert.is(shown, coloured ? on : 'x', `${when} ${JSON.stringify(env)} ${isTTY}`);
  }
});

test('wide characters take two cells, combining characters none', () => {
  for (const [text, width] of [
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本語', 6],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['🐱', 2],
    ['❤️', 1],
    ['…', 1],
    ['→', 1],
  ] as const) {
    assert.is(cells(text), width, text);
  }
  assert.is(pad('日本', 6), '日本  ');
  assert.is(pad('abc', 2), 'abc');
});

test('columns align with their headings, whatever they contain', () => {
  const text = table(
    ['APP', 'BRANCH', 'STATE'],
    [
      ['blog', 'main', 'ok'],
      ['日本語', 'e\u0301t\u00e9', 'blocked 🐱'],
      ['a-long-name', '', ''],
    ],
    plain,
  );
  assert.is(
    text,
    `APP          BRANCH  STATE\nblog         main    ok\n日本語       e\u0301t\u00e9     blocked 🐱\na-long-name\n`,
  );
  assert.is(table(['A'], [], plain), 'A\n');
});

test('table lines have no trailing space, and the cells of a column are aligned', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '日', '🐱', 'e\u0301', '-'), maxLength: 8 });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, fc.constant('|')), { maxLength: 6 }), (rows) => {
      const lines = table(['ONE', 'TWO', '|'], rows, plain).trimEnd().split('\n');
      const places = lines.map((line) => cells(line.slice(0, line.indexOf('|'))));
      assert.is(new Set(places).size, 1);
    }),
  );
});

test('values of fields are aligned, and their further lines are indented under them', () => {
  assert.is(
    fields([
      ['version', 'v1'],
      ['error', 'one\ntwo\n\nthree'],
    ]),
    '  version  v1\n  error    one\n           two\n           \n           three\n',
  );
  assert.is(
    fields([
      ['日本', 'x'],
      ['a', 'y'],
    ]),
    '  日本  x\n  a     y\n',
  );
  assert.is(fields([]), '');
});

test('a text is a text for readers of YAML 1.1 too, as a value and as a key', async () => {
  for (const text of [
    ...[
      'yes',
      'no',
      'on',
      'off',
      'Y',
      'n',
      'NO',
      '1_000',
      '12:30:45',
      '190:20:30.15',
      '0b11',
      '014',
    ],
    ...[
      '2026-05-04',
      '2026-5-4 1:02:03',
      '2026-05-04T09:30:00.000Z',
      '=',
      '<<',
      '0x_1',
      '-.INF',
      '~',
    ],
    ...['685.230_15e+03', '1e3', '0o14', 'null', 'true', '', '.5'],
  ]) {
    const quoted = await yamlText({ [text]: text, list: [text], number: 1 });
    for (const version of ['1.1', '1.2'] as const) {
      const read = parse(quoted, { version, merge: false });
      assert.equal(read, { [text]: text, list: [text], number: 1 }, text);
    }
    // The package reads less of 1.1 than other readers do.
    assert.ok(quoted.includes(`  - ${JSON.stringify(text)}\n`), quoted);
    assert.match(quoted, /^"/);
  }
  assert.is(await yamlText({ version: 'v1.2.0', app: 'shop' }), 'version: v1.2.0\napp: shop\n');
});

test('PyYAML reads what JSON says, where it is installed', async () => {
  const { spawnSync } = await import('node:child_process');
  const python = (script: string, input: string) =>
    spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });
  if (python('import yaml', '').status !== 0) {
    process.stdout.write('(left out: no PyYAML)\n');
    return;
  }
  const value = {
    texts: ['yes', 'no', 'on', '1_000', '12:30:45', '2026-05-04', '0b11', '=', '<<', 'v1'],
    timestamp: '2026-05-04T09:30:00.000Z',
    '=': '=',
    on: { '<<': 'x', no: null },
    numbers: [1, 1.5, -3],
  };
  const read = python(
    'import sys, json, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)',
    await yamlText(value),
  );
  assert.is(read.stderr, '');
  assert.equal(JSON.parse(read.stdout), value);
});

test.run();
