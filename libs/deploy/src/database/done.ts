/** What an operation has done to the database, for those who record and report it. */
import { SCHEMA_WORDS } from '@runner/common/apps/schema-way';
import type { Migration } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import type { Operation } from '../journal/operation.ts';

/** Reasons that are shown. */
const SHOWN = 5;

/** undefined if it has changed nothing. */
export function migrationBy({ paths, app, deployId }: Operation): Migration | undefined {
  const { migrations = [] } = findApp(paths, app.app) ?? app;
  return migrations.find(({ deploy_id }) => deploy_id === deployId);
}

/** `the database has changed, a version from before does not work with it: removes column …`. */
export function migrationWords({
  verdict,
  reasons,
}: Pick<Migration, 'verdict'> & { readonly reasons: readonly string[] }): string {
  const why = reasons.length === 0 ? '' : `: ${reasons.slice(0, SHOWN).join('; ')}`;
  const has = verdict === 'unknown' ? 'may have' : 'has';
  return `the database ${has} changed, ${SCHEMA_WORDS[verdict]}${why}`;
}
