import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { tamper, verifyLoaded, verifyRun } from './tampering.ts';

const TIMES = Number(process.env.AUDIT_TAMPERINGS ?? (IS_WHOLE ? 150 : 15));
const RECORDS = IS_WHOLE ? 10_000 : 200;

test(`${TIMES} random changes to a log of ${RECORDS} records are found, and the first one is named`, () =>
  tamper(RECORDS, TIMES, IS_WHOLE ? verifyLoaded : verifyRun));

test.run();
