/** Settings and keys with every damage, and every command that reads them; in part, one command each. */
import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { isSetting, testFiles } from './file-tests.ts';
import { allCases, someCases } from './hostile-files.ts';

testFiles(IS_WHOLE ? allCases().filter(isSetting) : someCases());
test.run();
