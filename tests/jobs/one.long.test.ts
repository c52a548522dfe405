/** DUE_TIMES=n: how many due times. */
import { suite } from 'uvu';
import { dueTimesOfThree } from './three-servers.ts';

const test = suite('jobs of one server');
const COUNT = Number(process.env.DUE_TIMES ?? 6_000);

test(`of ${COUNT} due times on three servers each is run by one, or missed by one`, () => {
  process.stdout.write(`(${JSON.stringify(dueTimesOfThree(COUNT))})\n`);
});

test.run();
