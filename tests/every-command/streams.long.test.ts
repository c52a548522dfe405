import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { testStreams } from './streams.ts';

testStreams(IS_WHOLE);
test.run();
