/** `kill -9` of every command that writes, at random moments; 100 times in the long tests. */
import { test } from 'uvu';
import { QUICK, testKills } from './kill-cases.ts';

testKills(QUICK, 7);
test.run();
