/** How a version from before a migration gets on with the database, in words. */
import { word } from '../text/shell.ts';
import { utcText } from '../text/time.ts';
import type { Migration, SchemaWay } from './database.ts';
import type { AppState } from './state.ts';

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

/** The command that goes back to a version and to a backup. */
export function restoreLine({ app }: Pick<AppState, 'app'>, version: string, id: string): string {
  return `runner rollback ${word(app)} --to ${word(version)} --database ${word(id)}`;
}

/** A migration that was killed: what is known of it, the only way on, and its command alone. */
export interface LeftMigration {
  readonly words: string;
  readonly hint: string;
  readonly command: string;
}

/** undefined: none was killed, or it still runs. `asks`: whether `applied` can say if it is in. */
export function leftMigration(
  { app, migrating }: Pick<AppState, 'app' | 'migrating'>,
  asks = migrating?.asks === true,
): LeftMigration | undefined {
  if (!migrating) return undefined;
  const { version, at, backup, contract, ended = 'was killed' } = migrating;
  const what = contract ? 'contract' : backup === undefined ? 'migration' : 'restore';
  const words = `the ${what} of ${version} of ${app}, begun at ${at}, ${ended}`;
  if (backup !== undefined) {
    const command = restoreLine({ app }, version, backup);
    return { words, hint: `run it once more: ${command}`, command };
  }
  const deploy = `runner deploy ${word(app)}`;
  if (asks) return { words, hint: `\`applied\` says whether it is in: ${deploy}`, command: deploy };
  const command = `${deploy} --migrated yes|no`;
  return { words, hint: `look into the database, then ${command}`, command };
}
