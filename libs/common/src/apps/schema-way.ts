/** How a version from before a migration gets on with the database, in words. */
import { utcText } from '../text/time.ts';
import type { Migration, SchemaWay } from './state.ts';

export const SCHEMA_WORDS: Readonly<Record<SchemaWay, string>> = {
  proven: 'the version before was tried on a copy and works with it',
  additive: 'a version from before still works with it',
  broken: 'a version from before does not work with it',
  unknown: 'whether a version from before works with it is not known',
};

/** Reasons that are shown. */
const SHOWN = 3;

/** `migrated by v2, 2026-05-04 09:30:12 UTC: a version from before …`, then why. */
export function migrationLines({
  version,
  at,
  verdict,
  reasons,
}: Pick<Migration, 'version' | 'at' | 'verdict' | 'reasons'>): string[] {
  const first = `migrated by ${version}, ${utcText(at)}: ${SCHEMA_WORDS[verdict]}`;
  return [first, ...reasons.slice(0, SHOWN)];
}
