import { test } from 'uvu';
import { FULL_DISK } from './hard-places.ts';
import { testPlaces } from './hard-places-check.ts';

testPlaces([FULL_DISK]);
test.run();
