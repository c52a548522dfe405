import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { PIPELINE } from './contract-pipeline.ts';
import { testLeaks } from './leaks.ts';

testLeaks(PIPELINE, IS_WHOLE);
test.run();
