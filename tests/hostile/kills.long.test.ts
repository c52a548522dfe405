/** `kill -9` of what changes the audit log and the registry, 100 times each at random moments. */
import { test } from 'uvu';
import { RECORDS, testKills } from './kill-cases.ts';

testKills(RECORDS, 100);
test.run();
