import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { REGISTRY } from './contract-registry.ts';
import { SECRETS } from './contract-secrets.ts';
import { testLeaks } from './leaks.ts';

testLeaks([...REGISTRY, ...SECRETS], IS_WHOLE);
test.run();
