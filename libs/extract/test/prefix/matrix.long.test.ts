/** Every log of the corpus in every prefix. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LATER } from './later.ts';
import { LIBRARIES } from './libraries.ts';
import { alone, inPairs, type Row, rightBare, share } from './matrix.ts';
import { PLATFORMS } from './platforms.ts';

const cases = rightBare();

function assertRight(rows: readonly Row[]): void {
  const worst = rows.map(({ name, wrong }) => `${wrong.length} ${name}`).sort();
  assert.ok(share(rows) >= 0.98, `${share(rows)}: ${worst.join(', ')}`);
}

test('the forms that the stage was written for', () => assertRight(alone(cases, PLATFORMS)));
test('the forms written down before the stage', () => assertRight(alone(cases, LIBRARIES)));
test('the forms written down when the stage was done', () => assertRight(alone(cases, LATER)));
test('two prefixes over each other', () => assertRight(inPairs(cases)));

test.run();
