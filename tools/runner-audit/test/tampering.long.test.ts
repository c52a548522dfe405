import { test } from 'uvu';
import { tamper, verifyLoaded } from './tampering.ts';

const TIMES = Number(process.env.RUNNER_TAMPERINGS ?? 150);

test(`${TIMES} random changes to a log of 10,000 records are found, and the first one is named`, () =>
  tamper(10_000, TIMES, verifyLoaded));

test.run();
