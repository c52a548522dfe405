/** A sample of the matrix: the cause is named whatever the prefix of the log. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { alone, inPairs, rightBare, share } from './matrix.ts';

const sample = rightBare(90);

test('of logs in one prefix at least 98 % are answered right', () => {
  const rows = alone(sample);
  assert.ok(share(rows) >= 0.98, rows.map(({ name, wrong }) => `${name}: ${wrong}`).join('\n'));
});

test('of logs in two prefixes over each other at least 98 % are answered right', () => {
  const rows = inPairs(sample);
  assert.ok(share(rows) >= 0.98, rows.map(({ name, wrong }) => `${name}: ${wrong}`).join('\n'));
});

test.run();
