import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { testSignals } from './signals.ts';

testSignals(IS_WHOLE);
test.run();
