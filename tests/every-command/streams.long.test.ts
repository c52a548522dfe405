import { test } from 'uvu';
import { testStreams } from './streams.ts';

testStreams(['>&-', '| :', '| head -n 1 >/dev/null', '2>&-', '2>/dev/full', '>&- 2>&-']);
test.run();
