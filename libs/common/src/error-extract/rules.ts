/**
 * The table of rules, in the order in which they are tried. To extend it, add a row to the list that
 * fits, with a log that shows it in `test/error-corpus`. A row is for a family of tools: one that
 * fits a single log gains nothing.
 */
import type { Rule } from './rule.ts';
import { ANNOUNCERS } from './rules-announcers.ts';
import { CODE } from './rules-code.ts';
import { RUNTIME } from './rules-runtime.ts';
import { TESTS } from './rules-tests.ts';
import { WORDS } from './rules-words.ts';
import { WORLD } from './rules-world.ts';
import { WRAPPERS } from './rules-wrappers.ts';

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
