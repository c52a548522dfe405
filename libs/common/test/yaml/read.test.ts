import { Failure } from '@runner/common/foundation/failure';
import { readYaml } from '@runner/common/yaml/read';
import type { Tree } from '@runner/common/yaml/schema';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
import { outputOf, role, startRole } from '../files/processes.ts';

const FILE = { name: 'f.yml', code: 'config_invalid' } as const;
const read = (text: string | Uint8Array) => readYaml(Buffer.from(text), FILE);

/** A tree as plain values, in which a section is a list of [key, line, value]. */
function plain(tree: Tree): unknown {
  if (tree.kind === 'scalar') return tree.value;
  if (tree.kind === 'list') return tree.items.map(plain);
  return tree.entries.map(({ key, line, value }) => [key, line, plain(value)]);
}

const GOOD: readonly (readonly [what: string, text: string, tree: unknown])[] = [
  ['an empty file', '', null],
  ['only comments', '# one\n\n  # two\n', null],
  ['only white space', ' \n\n', null],
  ['an empty document', '---\n', null],
  ['a byte order mark', '\ufeffa: 1\n', [['a', 1, 1]]],
  [
    'CRLF',
    'a: 1\r\nb: x\r\n',
    [
      ['a', 1, 1],
      ['b', 2, 'x'],
    ],
  ],
  [
    'a tab after a value',
    'a: x\t\nb:\ty\n',
    [
      ['a', 1, 'x'],
      ['b', 2, 'y'],
    ],
  ],
  [
    'the key __proto__',
    '__proto__: {a: 1}\nconstructor: 2\n',
    [
      ['__proto__', 1, [['a', 1, 1]]],
      ['constructor', 2, 2],
    ],
  ],
  [
    'YAML 1.1 words as texts',
    'a: [yes, on, no, off, y]\n',
    [['a', 1, ['yes', 'on', 'no', 'off', 'y']]],
  ],
  [
    'dates and clocks as texts',
    'a: 2026-01-01\nb: 12:30:00\n',
    [
      ['a', 1, '2026-01-01'],
      ['b', 2, '12:30:00'],
    ],
  ],
  ['a merge key as an ordinary key', '<<: {a: 1}\n', [['<<', 1, [['a', 1, 1]]]]],
  [
    'a block of text',
    'a: |\n  one\n  two\nb: >-\n  x\n  y\n',
    [
      ['a', 1, 'one\ntwo\n'],
      ['b', 4, 'x y'],
    ],
  ],
  [
    'a list and nothing',
    'a:\n  - 1\n  - ~\nb:\n',
    [
      ['a', 1, [1, null]],
      ['b', 4, null],
    ],
  ],
  [
    '32 brackets',
    `a: ${'['.repeat(32)}${']'.repeat(32)}`,
    [['a', 1, JSON.parse('['.repeat(32) + ']'.repeat(32))]],
  ],
];

for (const [what, text, tree] of GOOD) {
  test(`${what} is read`, () => assert.equal(plain(read(text)), tree));
}

const BAD: readonly (readonly [what: string, text: string | Uint8Array, sentence: string])[] = [
  ['invalid UTF-8', Buffer.from([0x61, 0x3a, 0x20, 0xff]), ':1: is not UTF-8 text'],
  ['half a character', Buffer.from([0x61, 0x3a, 0x20, 0xe2, 0x82]), ':1: is not UTF-8 text'],
  ['UTF-16', Buffer.from('\ufeffa: 1', 'utf16le'), ':1: is not UTF-8 text'],
  ['NUL', 'a: 1\nb: \u0000\n', ':2: has a control character'],
  ['an escape character', 'a: "\u001b[31m"\n', ':1: has a control character'],
  ['a tab as indentation', 'a:\n\tb: 1\n', ':2: a tab is used for indentation: use spaces'],
  ['the same key twice', 'a: 1\nb: 2\na: 3\n', ':3: a: duplicate key'],
  ['the same key twice within', 'x:\n  a: 1\n  "a": 3\n', ':3: a: duplicate key'],
  ['an alias', 'a: &x 1\nb: *x\n', ':2: uses an alias (*name): write the value out'],
  [
    'a binary value',
    'a: 1\nb: !!binary abcd\n',
    ':2: uses a tag (!!binary): write the value as text',
  ],
  ['two documents', 'a: 1\n---\nb: 2\n', ':2: has more than one document'],
  ['an open quote', 'a: 1\nb: "x\n', ':3: a closing quote, bracket or separator is missing'],
  ['an open bracket', 'a: [1, 2\n', ':2: wrong indentation, or a bracket that is not closed'],
  ['a list as key', '[a, b]: 1\n', ':1: a key is not plain text'],
  [
    'a key without a colon',
    'a: 1\nbcd\ne: 1\n',
    ':2: a key spans several lines: is a colon or a quote missing?',
  ],
  ['a value within a value', 'a: b: c\n', ':1: wrong nesting: a value cannot begin here'],
  ['33 brackets', `a: ${'['.repeat(33)}${']'.repeat(33)}`, ':1: has brackets nested too deeply'],
  ['many indicators', `\n${'- '.repeat(17)}a\n`, ':2: is nested too deeply'],
  ['a far indentation', `a:\n${' '.repeat(201)}b: 1\n`, ':2: is nested too deeply'],
  ['too many bytes', `a: ${'x'.repeat(65_536)}`, ':1: is larger than 65536 bytes or 2000 lines'],
  ['too many lines', '\n'.repeat(2000), ':1: is larger than 65536 bytes or 2000 lines'],
];

for (const [what, text, sentence] of BAD) {
  test(`${what} is refused with its line`, () => {
    assert.is(
      told(() => read(text)),
      `config_invalid: f.yml${sentence}`,
    );
  });
}

test('an integer of any length keeps its digits', () => {
  const tree = read('a: -1001234567890123456\nb: 0x10\nc: "-1001234567890123456"\n');
  if (tree.kind !== 'map') return assert.unreachable();
  const sources = tree.entries.map(({ value }) => value.kind === 'scalar' && value.source);
  assert.equal(sources, ['-1001234567890123456', '0x10', '-1001234567890123456']);
});

const line = fc.oneof(
  fc.constantFrom(
    'a: 1',
    'b:',
    '  - x',
    '  c: {d: [e]}',
    '---',
    '# x',
    '? a',
    ': b',
    '- |',
    '!!map',
    '&x',
    '*x',
    '%YAML 1.1',
    '"',
    "'",
    '\t',
    '...',
    '<<: *a',
    '}',
    ']',
    '@',
    '!',
  ),
  fc.string({
    unit: fc.constantFrom(...'?-: []{}"\'|>&*!%#,\\\t\u0085\u2028ab0_~é🐱'),
    maxLength: 20,
  }),
  fc.string({ unit: 'binary', maxLength: 10 }),
);

test('any text is parsed or refused with the code of its file', () => {
  const some = fc.oneof(
    fc.array(line, { maxLength: 12 }).map((lines) => Buffer.from(lines.join('\n'))),
    fc.uint8Array({ maxLength: 60 }),
  );
  fc.assert(
    fc.property(some, (bytes) => {
      try {
        readYaml(bytes, FILE);
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'config_invalid') throw error;
      }
    }),
    { numRuns: 300 },
  );
});

test('no message quotes more of the file than the wrong key', () => {
  const secret = 'Zq7secretZq7';
  const breaks = [
    '%s',
    'a: "%s',
    'a: [%s',
    'a: b: %s',
    'a: *%s',
    '\t%s: 1',
    'a: |\n%s',
    'a: %s\n- b',
    '%s\na: 1',
    '? %s',
    '[%s',
    '"%s',
    "'%s",
    '@%s',
    '`%s',
    '!%s!x a',
    '!<%s',
    '%%s a',
    'a: 1\n a: %s',
    '{%s',
    '- %s\na: 1',
    'a: "\\%s"',
    'a: %s\n\u0000',
  ];
  for (const text of breaks.map((each) => each.replaceAll('%s', secret))) {
    try {
      read(text);
    } catch (error) {
      assert.not.ok(`${(error as Error).message}`.includes(secret), text);
    }
  }
});

/** Texts that made the parser hang for seconds or abort the process. */
const BOMBS: Readonly<Record<string, () => string[]>> = {
  'nested question marks': () => [`${'? '.repeat(500)}a`, `a: ${'? '.repeat(2000)}`],
  'deep brackets, three times': () => [100, 1000, 20_000].map((depth) => '['.repeat(depth)),
  'deep braces': () => ['{a: '.repeat(5000), `${'- ['.repeat(5000)}`, `- ${'{'.repeat(20_000)}`],
  'thousands of keys': () => [
    `{${Array.from({ length: 11_000 }, (_, number) => `a${number}`).join(',')}}`,
    Array.from({ length: 1990 }, (_, number) => `a${number}: 1`).join('\n'),
  ],
  'thousands of keys that are no texts': () => [`a: {${'{},'.repeat(20_000)}}`],
  'thousands of brackets': () => [`a: [${','.repeat(60_000)}]`],
  'aliases of aliases': () => [
    `a: &a [x]\n${Array.from({ length: 30 }, (_, n) => `${String.fromCharCode(98 + (n % 20))}${n}: &n${n} [*a, *a, *a, *a]`).join('\n')}`,
  ],
};

test('texts made to hang or to abort the parser are read or refused within seconds', async () => {
  const child = startRole('bombs');
  const timer = setTimeout(() => child.kill('SIGKILL'), 300_000);
  const results = (await outputOf(child)).trim().split('\n');
  clearTimeout(timer);
  // Processor time: what a busy machine takes from it does not count.
  const seconds = Number(results.pop());
  assert.ok(seconds < 15, `${seconds} s`);
  const wanted = Object.entries(BOMBS).flatMap(([what, texts]) => texts().map(() => what));
  assert.equal(
    results.map((result) => result.split(': ')[0]),
    wanted,
  );
  for (const result of results) assert.match(result, /: (read|config_invalid)$/);
});

function explode(): void {
  for (const [what, texts] of Object.entries(BOMBS)) {
    for (const text of texts()) {
      try {
        read(text);
        console.log(`${what}: read`);
      } catch (error) {
        console.log(`${what}: ${error instanceof Failure ? error.code : error}`);
      }
    }
  }
  console.log(process.cpuUsage().user / 1e6);
}

test('where aliases are allowed, one is the tree of its anchor', () => {
  const withAliases = (text: string) => readYaml(Buffer.from(text), FILE, { aliases: true });
  assert.equal(plain(withAliases('a: &x [1]\nb: *x\n')), [
    ['a', 1, [1]],
    ['b', 2, [1]],
  ]);
  assert.match(
    told(() => withAliases('a: *none\n')),
    'f.yml:1',
  );
  assert.match(
    told(() => withAliases('a: &x [*x]\n')),
    'f.yml:1',
  );
});

if (role === 'bombs') explode();
else test.run();
