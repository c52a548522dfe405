/** What the short and the long tests of migrate share. */
import { sqliteSuite } from './sqlite-world.ts';

export const own = sqliteSuite('migrate');

export const { test } = own;
