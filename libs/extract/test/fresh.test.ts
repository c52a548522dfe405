/** The extractor on logs that were fresh when it first saw them: `fresh/README.md`. */
import { readFileSync } from 'node:fs';
import { extractError } from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inCheckout, judge, readFresh, scoreRow } from './error-score.ts';

const results = readFresh().map((truth) => ({
  truth,
  ...judge(truth, extractError(truth.log).text),
}));
const faults = results.filter(({ ok }) => !ok).map(({ truth, fault }) => `${truth.id}: ${fault}`);

test('the README of the fresh logs states the present score', () => {
  const page = readFileSync(inCheckout('libs', 'extract', 'test', 'fresh', 'README.md'), 'utf8');
  const row = scoreRow('now', results);
  assert.ok(page.includes(row), `${row}${faults.join('\n')}`);
});

test('there are 100 fresh logs of at least 40 tools', () => {
  const tools = new Set(readFresh().map(({ tool }) => tool));
  assert.is(results.length, 100);
  assert.ok(tools.size >= 40, `${tools.size} tools`);
});

test.run();
