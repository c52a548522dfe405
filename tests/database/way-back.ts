/** What the short and the long tests of way back share. */
import { sqliteSuite } from './sqlite-world.ts';

export const own = sqliteSuite('way back');

export const { test } = own;
