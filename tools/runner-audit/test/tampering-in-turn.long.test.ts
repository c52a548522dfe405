import { test } from 'uvu';
import { tamper } from './tampering.ts';

const TIMES = 15;

test('every kind of change to the log is found, and the first one is named', () =>
  tamper(200, TIMES, Math.random));

test.run();
