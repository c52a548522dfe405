import { test } from 'uvu';
import { isToldOnce } from './told-once-check.ts';

test('what changes is announced once, and once more when it is over: 500 minutes', () =>
  isToldOnce(500));

test.run();
