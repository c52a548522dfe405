import { test } from 'uvu';
import { NOTIFY } from './contract-notify.ts';
import { testLeaks } from './leaks.ts';

testLeaks(NOTIFY, false);
test.run();
