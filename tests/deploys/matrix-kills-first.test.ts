import { suite } from 'uvu';
import { killTests } from './matrix-kills.ts';

const test = suite('first deploys that are killed');

killTests(test, 'first');

test.run();
