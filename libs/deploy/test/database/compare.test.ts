/** What a change of a schema means for the old version. */
import { type Catalogue, type CatalogueEntry, schemaText } from '@runner/deploy/database/catalogue';
import { compareCatalogues } from '@runner/deploy/database/compare';
import { sinceLook } from '@runner/deploy/database/schema';
import { typeChange } from '@runner/deploy/database/types';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const entry = (
  kind: string,
  place: string,
  text = '',
  more: Partial<CatalogueEntry> = {},
): CatalogueEntry => {
  const [owner = '', name = ''] = place.includes('.') ? place.split('.') : ['', place];
  return { kind, owner, name, text, isNotNull: false, fallback: '', made: '', ...more };
};
const OLD = [
  entry('table', 'orders'),
  entry('column', 'orders.id', 'bigint', { isNotNull: true, fallback: 'nextval()' }),
  entry('column', 'orders.note', 'varchar(20)'),
  entry('index', 'orders.by_note', '(note)'),
  entry('counter', 'orders_seq', '', { made: '7' }),
];
const without = (name: string) => OLD.filter((each) => each.name !== name);
const verdict = (now: readonly CatalogueEntry[], rows: string[] | 'unknown' = []) => {
  const of = (entries: readonly CatalogueEntry[]): Catalogue => ({ entries });
  const { verdict: word, reasons } = compareCatalogues(of(OLD), of(now), rows);
  return [word, ...reasons];
};

test('what only adds is additive', () => {
  assert.equal(verdict(OLD), ['additive']);
  assert.equal(verdict([...OLD, entry('column', 'orders.tax', 'integer')]), ['additive']);
  const needed = { isNotNull: true, fallback: '0' };
  assert.equal(verdict([...OLD, entry('column', 'orders.tax', 'integer', needed)]), ['additive']);
  const table = [entry('table', 'plans'), entry('column', 'plans.id', 'int', { isNotNull: true })];
  assert.equal(verdict([...OLD, ...table], ['plans']), ['additive']);
  assert.equal(verdict(without('by_note')), ['additive']);
  const slug = [entry('column', 'orders.slug', 'text'), entry('unique', 'orders.u', '(slug)')];
  assert.equal(verdict([...OLD, ...slug]), ['additive']);
});

test('what the old version needs is broken', () => {
  assert.equal(verdict(without('note')), ['broken', 'removes column orders.note']);
  assert.equal(verdict([]), ['broken', 'renames or removes table orders']);
  const needed = entry('column', 'orders.tax', 'integer', { isNotNull: true });
  assert.equal(verdict([...OLD, needed]), [
    'broken',
    'column orders.tax is NOT NULL without a default',
  ]);
  const retyped = [...without('note'), entry('column', 'orders.note', 'integer')];
  assert.equal(verdict(retyped), [
    'broken',
    'changes the type of orders.note from varchar(20) to integer',
  ]);
  const unique = entry('unique', 'orders.one', 'btree (note)');
  assert.equal(verdict([...OLD, unique]), ['broken', 'adds a unique index on orders(note)']);
  const check = entry('check', 'orders.short', 'CHECK (length(note) < 9)');
  assert.equal(verdict([...OLD, check]), ['broken', 'adds CHECK short to orders']);
});

test('what depends on the rows or on the app is unknown', () => {
  assert.equal(verdict(OLD, ['orders']), ['unknown', 'changes rows of orders']);
  assert.equal(verdict(OLD, 'unknown'), ['unknown', 'may change rows']);
  assert.equal(verdict([...OLD, entry('trigger', 'orders.t', 'x')]), [
    'unknown',
    'adds trigger orders.t',
  ]);
  assert.equal(verdict([...OLD, entry('event', 'nightly')]), ['unknown', 'adds event nightly']);
  const open = entry('column', 'orders.note', 'varchar(20)', { fallback: "'open'::text" });
  assert.equal(verdict([...without('note'), open]), [
    'unknown',
    'changes the default of orders.note',
  ]);
  const hidden = entry('table', 'orders', '', { fallback: 'visible' });
  assert.equal(verdict([...without('orders'), hidden]), [
    'unknown',
    'changes which table the name orders means',
  ]);
});

test('a sequence is set back if it is lower than before, and an index of MySQL may be named', () => {
  const at = (made: string) => [
    ...without('orders_seq'),
    entry('counter', 'orders_seq', '', { made }),
  ];
  assert.equal(verdict(at('8')), ['additive']);
  assert.equal(verdict(at('6')), ['unknown', 'sets sequence orders_seq back']);
  assert.equal(verdict(without('orders_seq')), ['additive']);
  const of = (name: string, text: string) =>
    entry('index', `orders.${name}`, text, { made: 'hint' });
  const compared = (old: CatalogueEntry, now: CatalogueEntry[]) =>
    compareCatalogues({ entries: [...OLD, old] }, { entries: [...OLD, ...now] }, []).reasons;
  const old = of('own', '(total)');
  assert.equal(compared(old, []), ['removes index orders.own']);
  assert.equal(compared(old, [of('other', '(total)')]), ['removes index orders.own']);
  // MySQL drops that of a foreign key itself.
  assert.equal(compared(old, [of('longer', '(total, note)')]), []);
});

test('types: what is wider, what depends on the driver, and what is another', () => {
  const pairs = [
    ['varchar(20)', 'varchar(30)', 'wider'],
    ['character varying(20)', 'text', 'wider'],
    ['numeric(8,2)', 'numeric(9,2)', 'wider'],
    ['numeric(8,2)', 'numeric(9,3)', 'other'],
    ['varchar(20)', 'varchar(19)', 'other'],
    ['integer', 'bigint', 'perhaps'],
    ['bigint', 'integer', 'other'],
    ['int(11)', 'int(11) unsigned', 'other'],
    ["enum('a','b')", "enum('a','b','c')", 'perhaps'],
    ["enum('a','b')", "enum('b','a')", 'other'],
    ['json', 'jsonb', 'other'],
  ] as const;
  for (const [from, to, expected] of pairs)
    assert.is(typeChange(from, to), expected, `${from} ${to}`);
});

test('the order in which a server lists a schema is no change, that of its columns is', () => {
  const [table, id, note, ...rest] = OLD as [CatalogueEntry, CatalogueEntry, CatalogueEntry];
  const moved = { entries: [...rest, table, note, id] };
  const again = { entries: [...[...rest].reverse(), id, note, table] };
  const lookAt = (catalogue: Catalogue) => ({
    catalogue,
    text: 'as an older version wrote it',
    notes: '',
  });
  assert.is(schemaText({ entries: OLD }), schemaText(again));
  assert.is.not(schemaText({ entries: OLD }), schemaText(moved));
  assert.is(sinceLook(lookAt({ entries: OLD }), lookAt(again)).isSame, true);
  assert.is(sinceLook(lookAt({ entries: OLD }), lookAt(moved)).isSame, false);
});

test.run();
