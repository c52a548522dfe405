/** Every file that is read, with every damage: one command each. All of them are in the long tests. */
import { test } from 'uvu';
import { testFiles } from './file-tests.ts';
import { someCases } from './hostile-files.ts';

testFiles(someCases());
test.run();
