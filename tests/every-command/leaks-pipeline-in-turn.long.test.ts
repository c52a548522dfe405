import { test } from 'uvu';
import { PIPELINE } from './contract-pipeline.ts';
import { testLeaks } from './leaks.ts';

testLeaks(PIPELINE, false);
test.run();
