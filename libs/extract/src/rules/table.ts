/** The table of rules, in the order in which they are tried: docs/contributing.md extends it. */

import { ANNOUNCERS } from './announcers.ts';
import { CODE } from './code.ts';
import type { Rule } from './rule.ts';
import { RUNTIME } from './runtime.ts';
import { TESTS } from './tests.ts';
import { WORDS } from './words.ts';
import { WORLD } from './world.ts';
import { WRAPPERS } from './wrappers.ts';

export const RULES: readonly Rule[] = [
  ...WRAPPERS,
  ...ANNOUNCERS,
  ...CODE,
  ...TESTS,
  ...RUNTIME,
  ...WORLD,
  ...WORDS,
];
