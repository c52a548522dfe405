import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { NOTIFY } from './contract-notify.ts';
import { testLeaks } from './leaks.ts';

testLeaks(NOTIFY, IS_WHOLE);
test.run();
