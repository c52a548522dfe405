/** `kill -9` of deploy, 100 times at random moments. */
import { test } from 'uvu';
import { DEPLOY, testKills } from './kill-cases.ts';

testKills([DEPLOY], 100);
test.run();
