import { createExtractor, extractError } from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { corpus, results } from './corpus.ts';
import { judge } from './error-score.ts';

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

test.run();
