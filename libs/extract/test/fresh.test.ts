/** The extractor on logs that were fresh when it first saw them: the READMEs of their sets. */
import { readFileSync } from 'node:fs';
import { extractError } from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inCheckout, judge, readSet, scoreRow } from './error-score.ts';

const SETS = [
  'fresh',
  'reported',
  'unseen',
  'sealed',
  'later',
  'natural',
  'blind',
  'ordinary',
  'once',
] as const;

for (const name of SETS) {
  test(`the README of the ${name} logs states the present score`, () => {
    const results = readSet(name).map((truth) => ({
      truth,
      ...judge(truth, extractError(truth.log).text),
    }));
    const faults = results.filter(({ ok }) => !ok).map((each) => `${each.truth.id}: ${each.fault}`);
    const page = readFileSync(inCheckout('libs', 'extract', 'test', name, 'README.md'), 'utf8');
    const row = scoreRow('now', results);
    assert.ok(page.includes(row), `${row}${faults.join('\n')}`);
  });
}

test('there are 100 fresh logs of at least 40 tools', () => {
  const fresh = readSet('fresh');
  const tools = new Set(fresh.map(({ tool }) => tool));
  assert.is(fresh.length, 100);
  assert.ok(tools.size >= 40, `${tools.size} tools`);
});

test.run();
