import { test } from 'uvu';
import { CLOSED_FOLDERS, READ_ONLY } from './hard-places.ts';
import { testPlaces } from './hard-places-check.ts';

testPlaces([READ_ONLY, CLOSED_FOLDERS]);
test.run();
