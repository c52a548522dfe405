import { RULES } from '@runner/extract/rules/table';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { corpus, results } from './corpus.ts';
import { LIMIT, median } from './error-score.ts';

test('of the logs in the corpus at least 92 % show what a person needs', () => {
  const wrong = results.filter(({ ok }) => !ok).map(({ truth, fault }) => `${truth.id} ${fault}`);
  assert.ok(wrong.length <= 0.08 * corpus.length, wrong.join('\n'));
});

test('the cause stands on the first line in at least 85 %', () => {
  assert.ok(results.filter(({ first }) => first).length >= 0.85 * corpus.length);
});

test('half of the texts have at most 400 characters, none is empty or longer than 800', () => {
  assert.ok(median(results.map(({ length }) => length)) <= 400);
  for (const { truth, length } of results) assert.ok(length > 0 && length <= LIMIT, truth.id);
});

test('a secret in a log is never shown', () => {
  const secret = results.filter(({ truth }) => truth.must_not_include !== undefined);
  assert.ok(secret.length > 0);
  for (const { truth, extraction } of secret) {
    for (const one of truth.must_not_include ?? []) {
      assert.not.ok(extraction.text.includes(one), truth.id);
    }
  }
});

test('every rule has a name of its own', () => {
  assert.is(new Set(RULES.map(({ name }) => name)).size, RULES.length);
});

test.run();
