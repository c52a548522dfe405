import { test } from 'uvu';
import { tamper, verifyRun } from './tampering.ts';

const TIMES = 15;

test('every kind of change to the log is found, and the first one is named', () =>
  tamper(200, TIMES, verifyRun));

test.run();
