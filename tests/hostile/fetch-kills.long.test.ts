/** `kill -9` of fetch --deploy, 100 times at random moments. */
import { test } from 'uvu';
import { FETCH, testKills } from './kill-cases.ts';

testKills([FETCH], 100);
test.run();
