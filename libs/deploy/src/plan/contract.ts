/** The contract that a plan is about, or that may follow a deploy. */
import type { AppState } from '@runner/common/apps/state';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { type DueContract, dueContract } from '../database/contract.ts';
import { keptVersions } from '../database/kept.ts';
import { fileOfRelease } from '../instances/kept-file.ts';

/** Throws `version_not_found` if none is due. */
export function requireContract(paths: Paths, app: AppState): DueContract {
  const due = dueContract(paths, app);
  if ('why' in due) throw new Failure('version_not_found', due.why);
  return due;
}

/** Whether the oldest version that is kept after the deploy may have a `contract` that is still to be run. */
export function contractMayFollow(paths: Paths, app: AppState, file: DeployFile): boolean {
  // The deploy may remove the oldest.
  const oldest = keptVersions(paths.app(app.app), app).slice(0, 2);
  const rules = oldest
    .filter(({ deploy_id }) => deploy_id !== app.contracted)
    .map((kept) => fileOfRelease(paths, app.app, kept)?.migrate);
  return [...rules, ...(oldest.length < 2 ? [file.migrate] : [])].some(
    (migrate) => migrate?.contract !== undefined,
  );
}
