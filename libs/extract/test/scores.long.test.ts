/** The page of scores is what the extractor reaches now. */
import { readFileSync } from 'node:fs';
import { extractError } from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inCheckout, judge, readSet, SETS, scoresPage } from './error-score.ts';

test('scores.md has the score of each set of logs', () => {
  const bySet = new Map(
    SETS.map((name) => [
      name,
      readSet(name).map((truth) => ({ truth, ...judge(truth, extractError(truth.log).text) })),
    ]),
  );
  const page = readFileSync(inCheckout('corpus', 'scores.md'), 'utf8');
  assert.is(page, scoresPage(bySet), 'npm run bench -- extract --write puts it right');
});

test.run();
