/** Every log of the corpus in every dress: what docs/why-it-failed.md says of it. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inCheckout } from '../error-score.ts';
import { LATER } from './later.ts';
import { LIBRARIES } from './libraries.ts';
import { alone, inPairs, type Row, rightBare, share } from './matrix.ts';
import { PLATFORMS } from './platforms.ts';

const page = readFileSync(inCheckout('docs', 'why-it-failed.md'), 'utf8');
const cases = rightBare();

/** A row of the page's table: never better than what was measured. */
function documented(title: string, rows: readonly Row[]): void {
  const found = new RegExp(`^\\| ${title} \\| (\\d+) \\| ([\\d.]+) % \\|`, 'm').exec(page);
  assert.ok(found, title);
  assert.is(Number(found[1]), rows.length, title);
  const measured = Math.round(1000 * share(rows)) / 10;
  const worst = rows.map(({ name, wrong }) => `${wrong.length} ${name}`).sort();
  assert.is(Number(found[2]), measured, worst.join('\n'));
}

test('the forms that the stage was written for', () => {
  documented('one, known', alone(cases, PLATFORMS));
});

test('the forms written down before the stage', () => {
  documented('one, unseen', alone(cases, LIBRARIES));
});

test('the forms written down when the stage was done', () => {
  documented('one, later', alone(cases, LATER));
});

test('two dresses over each other', () => {
  documented('two, nested', inPairs(cases));
});

test.run();
