/** DUE_TIMES=n: how many due times. */
import { IS_WHOLE } from '@runner/testing/extent';
import { suite } from 'uvu';
import { manyDueTimes, nightsAndHours } from './due-times.ts';

const test = suite('due times of jobs');
const COUNT = Number(process.env.DUE_TIMES ?? (IS_WHOLE ? 100_000 : 30_000));

test('a time that the clock skips or doubles comes once that night, and hours go on, for years', () =>
  nightsAndHours(4, 366));

test(`of ${COUNT} due times none is run twice, and none is lost without a word`, () => {
  process.stdout.write(`(${JSON.stringify(manyDueTimes(COUNT))})\n`);
});

test.run();
