import { test } from 'uvu';
import { testStreams } from './streams.ts';

testStreams(false);
test.run();
