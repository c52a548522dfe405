import { IS_WHOLE } from '@runner/testing/extent';
import { suite } from 'uvu';
import { SITUATIONS } from './matrix.ts';
import { killTests } from './matrix-kills.ts';

const test = suite('deploys that are killed');

for (const situation of SITUATIONS) killTests(test, situation, IS_WHOLE);

test.run();
