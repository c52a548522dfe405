import { test } from 'uvu';
import { testSignals } from './signals.ts';

testSignals(true);
test.run();
