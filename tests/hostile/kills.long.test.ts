/** `kill -9` of every command that writes, at random moments: 100 times each, or once. */
import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { MESSAGES, RECORDS, testKills } from './kill-cases.ts';

testKills([...RECORDS, ...MESSAGES], IS_WHOLE ? 100 : 1);
test.run();
