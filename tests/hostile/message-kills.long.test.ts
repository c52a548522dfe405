/** `kill -9` of what changes messages and how they are sent, 100 times each at random moments. */
import { test } from 'uvu';
import { MESSAGES, testKills } from './kill-cases.ts';

testKills(MESSAGES, 100);
test.run();
