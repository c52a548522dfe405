import { suite } from 'uvu';
import { SITUATIONS } from './matrix.ts';
import { killTests } from './matrix-kills.ts';

const test = suite('deploys that are killed');

for (const situation of SITUATIONS) killTests(test, situation, false);

test.run();
