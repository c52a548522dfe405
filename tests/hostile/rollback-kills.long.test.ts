/** `kill -9` of rollback, 100 times at random moments. */
import { test } from 'uvu';
import { ROLLBACK, testKills } from './kill-cases.ts';

testKills([ROLLBACK], 100);
test.run();
