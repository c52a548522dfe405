import { test } from 'uvu';
import { testStreams } from './streams.ts';

testStreams(true);
test.run();
