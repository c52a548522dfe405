import { test } from 'uvu';
import { testSignals } from './signals.ts';

testSignals(false);
test.run();
