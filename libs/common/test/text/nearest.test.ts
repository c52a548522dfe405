import { nearest } from '@runner/common/text/nearest';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a typo gets a suggestion, a distant word does not', () => {
  const names = ['list', 'test', 'rekey', 'last-error'];
  assert.is(nearest('lsit', names), 'list');
  assert.is(nearest('lis', names), 'list');
  assert.is(nearest('last-eror', names), 'last-error');
  assert.is(nearest('deploy', names), undefined);
  assert.is(nearest('', names), undefined);
  assert.is(nearest('x'.repeat(100_000), names), undefined);
});

test.run();
