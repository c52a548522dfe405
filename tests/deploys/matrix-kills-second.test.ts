import { suite } from 'uvu';
import { killTests } from './matrix-kills.ts';

const test = suite('second deploys that are killed');

killTests(test, 'second');

test.run();
