/** The table of weights in the repository is the one that its logs give. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inCheckout } from '../../libs/extract/test/error-score.ts';
import { learnedTable } from './table.ts';

test('weights.ts is what npm run weights writes', () => {
  const path = inCheckout('libs', 'extract', 'src', 'choose', 'weights.ts');
  assert.ok(readFileSync(path, 'utf8') === learnedTable().text, 'npm run weights puts it right');
});

test.run();
