/** What an operation has done to the database, for those who record it. */
import type { Migration } from '@runner/common/apps/database';
import { findApp } from '@runner/common/apps/store';
import type { Operation } from '../journal/operation.ts';

/** undefined if it has changed nothing, or no version was there before. */
export function migrationBy({ paths, app, deployId }: Operation): Migration | undefined {
  const { migrations = [] } = findApp(paths, app.app) ?? app;
  return migrations.find(({ deploy_id, first }) => deploy_id === deployId && !first);
}
