import { test } from 'uvu';
import { REGISTRY } from './contract-registry.ts';
import { testLeaks } from './leaks.ts';

testLeaks(REGISTRY, false);
test.run();
