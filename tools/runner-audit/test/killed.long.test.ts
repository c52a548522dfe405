import { test } from 'uvu';
import { killed } from './honest.ts';

/** A proof sets more. */
const TIMES = Number(process.env.AUDIT_KILLS ?? 60);
const EACH = 20;

test(`${TIMES} writers killed while they append leave a whole chain with every acknowledged record`, async () => {
  for (let time = 0; time < TIMES; time += EACH) await killed(Math.random, EACH);
});

test.run();
