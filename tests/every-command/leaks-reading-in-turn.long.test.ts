import { test } from 'uvu';
import { READING } from './contract-reading.ts';
import { testLeaks } from './leaks.ts';

testLeaks(READING, false);
test.run();
