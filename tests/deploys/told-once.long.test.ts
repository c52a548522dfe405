import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { isToldOnce } from './told-once-check.ts';

const MINUTES = IS_WHOLE ? 500 : 16;

test(`a change is announced once, and its end once: ${MINUTES} minutes`, () => isToldOnce(MINUTES));

test.run();
