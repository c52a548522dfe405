/** Who wrote commits of a plan, whatever their names are. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { authorPrints, isAuthor } from '../../src/plan/authors.ts';

const ADA = { user: 'ada', emails: ['ada@example.org'] };
const LONG = 'A'.repeat(4_000);

test('an address counts however long the name before it is, in any case', () => {
  for (const author of [
    'Ada <ada@example.org>',
    `${LONG} <ADA@example.org>`,
    ' <ada@example.org> ',
  ]) {
    const prints = authorPrints('p-1', ['Eve <eve@example.org>', author]);
    assert.ok(isAuthor('p-1', prints, ADA), author);
    assert.not(isAuthor('p-2', prints, ADA));
    assert.not(prints.join().includes('ada'));
  }
});

test('without listed addresses a user is an author by name, address or account', () => {
  const ada = { user: 'ada', emails: [] };
  for (const author of ['Ada <x@example.org>', 'X <ada@example.org>', 'ada', 'X <ADA>'])
    assert.ok(isAuthor('p-1', authorPrints('p-1', [author]), ada), author);
  assert.not(isAuthor('p-1', authorPrints('p-1', ['Adam <adam@example.org>']), ada));
});

test('with more authors than are kept, anyone may be one', () => {
  const many = Array.from({ length: 1_001 }, (_, at) => `N${at} <n${at}@example.org>`);
  assert.ok(isAuthor('p-1', authorPrints('p-1', many), ADA));
});

test('a name of blanks takes no time', () => {
  const begin = Date.now();
  authorPrints('p-1', [`a${' '.repeat(1_000_000)}b <ada@example.org> x`]);
  assert.ok(Date.now() - begin < 5_000, `${Date.now() - begin} ms`);
});

test.run();
