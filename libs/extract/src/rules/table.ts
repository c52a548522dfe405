/**
 * The table of rules, in the order in which they are tried. To extend it, add a row to the list that
 * fits, with a log that shows it in `test/error-corpus`. A row is for a family of tools: one that
 * fits a single log gains nothing.
 */

import { ANNOUNCERS } from './announcers.ts';
import { CODE } from './code.ts';
import type { Rule } from './rule.ts';
import { RUNTIME } from './runtime.ts';
import { TESTS } from './tests.ts';
import { WORDS } from './words.ts';
import { WORLD } from './world.ts';
import { WRAPPERS } from './wrappers.ts';

/** Every rule; of two that fit, the first one counts. */
export const RULES: readonly Rule[] = [
  ...WRAPPERS,
  ...ANNOUNCERS,
  ...CODE,
  ...TESTS,
  ...RUNTIME,
  ...WORLD,
  ...WORDS,
];
