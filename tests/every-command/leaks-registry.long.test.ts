import { test } from 'uvu';
import { REGISTRY } from './contract-registry.ts';
import { SECRETS } from './contract-secrets.ts';
import { testLeaks } from './leaks.ts';

testLeaks([...REGISTRY, ...SECRETS], true);
test.run();
