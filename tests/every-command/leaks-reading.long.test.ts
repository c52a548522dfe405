import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { READING } from './contract-reading.ts';
import { testLeaks } from './leaks.ts';

testLeaks(READING, IS_WHOLE);
test.run();
