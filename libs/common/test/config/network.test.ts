import {
  bounded,
  hostRule,
  isHostName,
  networkIn,
  networkSchema,
  ruleFor,
  ruleText,
  widened,
} from '@runner/common/config/network';
import { readYaml } from '@runner/common/yaml/read';
import { check } from '@runner/common/yaml/schema';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const FILE = { name: 'x.yml', code: 'config_invalid' } as const;
const read = (value: unknown) =>
  networkIn(
    (
      check(
        readYaml(Buffer.from(`network: ${JSON.stringify(value)}\n`), FILE),
        {
          type: 'object',
          additionalProperties: false,
          properties: { network: networkSchema('x') },
        },
        FILE,
      ) as Map<string, unknown>
    ).get('network'),
  );

test('what a list may hold', () => {
  assert.equal([true, false, 'learn', 'npm', 'a.example.org'].map(read), [
    true,
    false,
    'learn',
    ['npm'],
    ['a.example.org'],
  ]);
  const good = [
    'npm',
    'github.com',
    '*.example.org',
    'git.example.org:22',
    'nexus private',
    'nexus.corp:8081 private',
    'a.example.org:65535',
  ];
  assert.equal(read(good), good);
  const bad = [
    'nexus',
    'https://a.example.org',
    'a.example.org/x',
    '*',
    '*.*.org',
    'a..org',
    '-a.org',
    'a.org public',
    'a_b.org',
    'a.org:443:22',
    'learn',
    `${'a'.repeat(64)}.org`,
    '',
  ];
  for (const each of bad)
    assert.throws(() => read([each]), /network\[0\]: must (?:be a host like|not be)/, each);
  for (const [each, words] of [
    ['1.2.3.4', /must be the name of a host: addresses cannot be listed/],
    ['10.0.0.1 private', /must be the name of a host: addresses cannot be listed/],
    ['[::1]', /must be the name of a host: addresses cannot be listed/],
    ['fd00::1', /must be the name of a host: addresses cannot be listed/],
    ['localhost:5432', /must end with " private": a name without a dot has a private address/],
    ['a.org:0', /must have a port from 1 to 65535/],
    ['a.org:99999', /must have a port from 1 to 65535/],
    ['nexus:65536 private', /must have a port from 1 to 65535/],
  ] as const)
    assert.throws(() => read([each]), words, each);
});

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const host = fc.array(label, { minLength: 2, maxLength: 5 }).map((parts) => parts.join('.'));
const rule = fc
  .tuple(
    fc.constantFrom('', '*.'),
    host,
    fc.constantFrom('', ':22', ':80'),
    fc.constantFrom('', ' private'),
  )
  .map((parts) => parts.join(''));

test('a rule is written as it was read, and matches its own host alone or what is below it', () => {
  fc.assert(
    fc.property(rule, host, (text, other) => {
      const own = hostRule(text);
      assert.is(ruleText(own), text);
      const suffix = own.host.replace(/^\*/, '');
      const isNamed = own.host.startsWith('*.')
        ? other.endsWith(suffix) && other.length > suffix.length
        : other === own.host;
      assert.is(ruleFor([own], other, own.port) !== undefined, isNamed);
      assert.is(ruleFor([own], other, own.port + 1), undefined);
      const below = own.host.replace('*', 'a');
      assert.is(ruleFor([own], below, own.port), own);
      assert.is(ruleFor([own], `evil${below.replace(/^a\./, '')}`, own.port), undefined);
      assert.is(ruleFor([own], `${below}.evil`, own.port), undefined);
    }),
  );
});

test('what is within a bound reaches nothing that the bound does not', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 6 }),
      fc.array(rule, { maxLength: 6 }),
      host,
      (own, most, asked) => {
        const ceiling = most.map(hostRule);
        const { inside, outside } = bounded(own.map(hostRule), ceiling);
        assert.is(inside.length + outside.length, own.length);
        for (const port of [443, 80, 22])
          for (const name of [
            asked,
            ...most.map((each) => hostRule(each).host.replace('*', 'x')),
          ]) {
            const found = ruleFor(inside, name, port);
            const above = ruleFor(ceiling, name, port);
            if (found) assert.ok(above && (above.isPrivate || !found.isPrivate));
          }
      },
    ),
  );
});

test('what a list has more than another', () => {
  assert.equal(widened(true, ['a.org']), []);
  assert.equal(widened(['a.org'], ['b.org', 'a.org']), ['b.org']);
  assert.equal(widened(false, ['a.org']), ['a.org']);
  assert.equal(widened(['a.org'], true), ['all hosts']);
  assert.equal(widened(['a.org'], 'learn'), ['all hosts']);
  assert.equal(widened(['a.org'], false), []);
});

test('an address is not the name of a host', () => {
  for (const each of [
    '1.2.3.4',
    '0x7f000001',
    '127.1',
    '::1',
    '[::1]',
    'a b.org',
    'a.org.',
    '',
    '.',
  ])
    assert.not(isHostName(each), each);
});

test.run();
