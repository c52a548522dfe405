import { createExtractor, extractError } from '@runner/extract/extract';
import { RULES } from '@runner/extract/rules/table';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judge, LIMIT, median, readSet } from './error-score.ts';

const corpus = readSet('error-corpus');
const results = corpus.map((truth) => {
  const extraction = extractError(truth.log);
  return { truth, extraction, ...judge(truth, extraction.text) };
});

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

test('what a deploy prints before and after the error changes little', () => {
  const before = '==> installing\ncopied assets/error-1.svg\nadded 311 packages in 9s\n0 errors\n';
  const after = '\n==> rolling back to release 12\nunlinking shared/error_pages/404.html\n';
  const right = corpus.filter((truth) => {
    const log = Buffer.concat([Buffer.from(before), truth.log, Buffer.from(after)]);
    return judge(truth, extractError(log).text).ok;
  });
  assert.ok(right.length >= 0.92 * corpus.length, `${right.length} of ${corpus.length}`);
});

test('no log gives another result when it comes in other chunks', () => {
  for (const { truth, extraction } of results) {
    for (const size of [1, 7, 4099]) {
      if (size === 1 && truth.log.length > 20_000) continue;
      const extractor = createExtractor();
      for (let at = 0; at < truth.log.length; at += size) {
        extractor.push(truth.log.subarray(at, at + size));
      }
      assert.equal(extractor.end(), extraction, `${truth.id} by ${size}`);
    }
  }
});

test('every rule has a name of its own', () => {
  assert.is(new Set(RULES.map(({ name }) => name)).size, RULES.length);
});

test.run();
