/** Logs, messages and locks with every damage, and every command that reads them. */
import { test } from 'uvu';
import { isSetting, testFiles } from './file-tests.ts';
import { allCases } from './hostile-files.ts';

testFiles(allCases().filter((each) => !isSetting(each)));
test.run();
