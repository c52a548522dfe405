/** How a version from before a migration gets on with the database, in words. */
import type { SchemaWay } from './state.ts';

export const SCHEMA_WORDS: Readonly<Record<SchemaWay, string>> = {
  proven: 'the version before was tried on a copy and works with it',
  additive: 'a version from before still works with it',
  broken: 'a version from before does not work with it',
  unknown: 'whether a version from before works with it is not known',
};
