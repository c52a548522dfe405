/** `kill -9` of every command that writes, at random moments; once here, 100 times in the long tests. */
import { test } from 'uvu';
import { MESSAGES, RECORDS, testKills } from './kill-cases.ts';

testKills([...RECORDS, ...MESSAGES], 1);
test.run();
