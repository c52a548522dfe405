import { test } from 'uvu';
import { honest } from './honest.ts';

/** A proof sets more. */
const TIMES = Number(process.env.AUDIT_HISTORIES ?? 20);

test(`${TIMES} logs with kills, rotations, 24 writers, a full disk and late events verify, and lose nothing`, async () => {
  for (let time = 0; time < TIMES; time += 1) await honest(Math.random, 4, true);
});

test.run();
