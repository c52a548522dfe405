import { test } from 'uvu';
import { testStreams } from './streams.ts';

testStreams(['>&-', '| head -n 1 >/dev/null']);
test.run();
