/** How a version from before a migration gets on with the database, in words. */
import { utcText } from '../text/time.ts';
import type { Migration, SchemaWay } from './state.ts';

export const SCHEMA_WORDS: Readonly<Record<SchemaWay, string>> = {
  proven: 'the version before was tried on a copy and works with it',
  additive: 'a version from before still works with it',
  broken: 'a version from before does not work with it',
  unknown: 'whether a version from before works with it is not known',
};

/** Reasons that are shown in a list, and in a sentence. */
const SHOWN = 3;
const SAID = 5;

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

/** `the database has changed, a version from before does not work with it: removes column …`. */
export function migrationWords({
  verdict,
  reasons,
}: Pick<Migration, 'verdict'> & { readonly reasons: readonly string[] }): string {
  const of = verdict === 'proven' ? '; for older ones:' : ':';
  const why = reasons.length === 0 ? '' : `${of} ${reasons.slice(0, SAID).join('; ')}`;
  const has = verdict === 'unknown' ? 'may have' : 'has';
  return `the database ${has} changed, ${SCHEMA_WORDS[verdict]}${why}`;
}

/** Of a rollback that brought the database back, too. */
export function restoredWords(backup: string): string {
  return `restored from the backup ${backup}`;
}
