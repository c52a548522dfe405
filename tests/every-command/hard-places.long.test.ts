import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { CLOSED_FOLDERS, FULL_DISK, READ_ONLY } from './hard-places.ts';
import { testPlaces } from './hard-places-check.ts';

testPlaces(IS_WHOLE ? [FULL_DISK, READ_ONLY, CLOSED_FOLDERS] : [FULL_DISK]);
test.run();
