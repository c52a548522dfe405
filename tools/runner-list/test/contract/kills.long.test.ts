/** `kill -9` of every command that writes, 100 times at random moments; those that deploy have files of their own. */
import { test } from 'uvu';
import { QUICK, testKills } from './kill-cases.ts';

testKills(QUICK, 100);
test.run();
