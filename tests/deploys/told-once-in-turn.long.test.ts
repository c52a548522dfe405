import { test } from 'uvu';
import { isToldOnce } from './told-once-check.ts';

test('what changes is announced once, and once more when it is over: 16 minutes', () =>
  isToldOnce(16));

test.run();
