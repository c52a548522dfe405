import { test } from 'uvu';
import { honest } from './honest.ts';

test('a log with kills, rotations, a full disk and late events verifies, and has every acknowledged record', () =>
  honest(Math.random, 4, false));

test.run();
