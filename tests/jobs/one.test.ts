import { suite } from 'uvu';
import { dueTimesOfThree } from './three-servers.ts';

const test = suite('jobs of one server');

test('of 600 due times on three servers each is run by one, or missed by one', () => {
  dueTimesOfThree(600);
});

test.run();
