/** The database of a preview: made before its first migration, dropped when it is removed. */
import { basename } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { readDeployFile } from '@runner/common/deploy-file/read';
import { isThere } from '@runner/common/files/read';
import type { Target } from '../instances/drivers/driver.ts';
import { withNetwork } from '../instances/network.ts';
import { keptTarget, targetOf } from '../instances/target.ts';
import { changeOwnState } from '../journal/journal.ts';
import type { Operation } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { runStep, shellStep } from '../run/step.ts';

/** The step that makes it, unless it is made; one that a kill left half made is dropped first. */
export function previewDatabase(op: Operation, target: Target | undefined): Step[] {
  const rules = target?.file.preview.database;
  if (!target || !rules || !op.app.preview || op.app.preview.database?.isMade) return [];
  const run = async () => {
    await dropPreviewDatabase(op);
    const note = (isMade: boolean) =>
      changed(op, { drop: rules.drop, release: basename(target.release), isMade });
    note(false);
    await runFor(op, target, 'create', rules.create);
    note(true);
  };
  return [{ stage: 'migrate', title: `preview.database: ${rules.create}`, run }];
}

/** Drops it, if it was or may have been made. Throws a StepFailure. */
export async function dropPreviewDatabase(op: Operation): Promise<void> {
  const { app, preview, instances } = requireApp(op.paths, op.app.app);
  if (!preview?.database) return;
  const { drop, release } = preview.database;
  const [[name, { current }] = ['default', { current: null }]] = Object.entries(instances);
  const made = { version: '-', commit: preview.commit, release };
  const isKept = isThere(op.paths.app(app).release(release));
  const known = isKept ? made : current;
  // Begun is done, wholly or in part: it is not there for a deploy any more.
  changed(op, { ...preview.database, isMade: false });
  // The release of a first deploy that failed is gone, with what it said of its environment.
  const bare = () => {
    const instance = { name, domain: undefined, env: {} };
    return {
      ...targetOf(op, { ...made, file: readDeployFile(undefined), instance }),
      release: '/',
    };
  };
  await runFor(op, (known && keptTarget(op, name, known)) ?? bare(), 'drop', drop);
  changed(op, undefined);
}

function changed(op: Operation, database: NonNullable<AppState['preview']>['database']): void {
  changeOwnState(op, (app) => {
    const { database: _, ...rest } = app.preview as NonNullable<AppState['preview']>;
    // What was migrated is gone with it.
    const gone = database ? {} : { migrating: null, migrations: [] };
    return { ...app, ...gone, preview: { ...rest, ...(database && { database }) } };
  });
}

function runFor(
  op: Operation,
  target: Target,
  what: 'create' | 'drop',
  command: string,
): Promise<unknown> {
  const { env, release: cwd, file, signal } = target;
  const list = { key: 'hooks.network', own: file.hookNetwork, env };
  return withNetwork(op, target, list, (network) => {
    const confinement = target.confine('hook', network);
    const label = `preview.database.${what}`;
    const step = { stage: 'migrate' as const, label, command, cwd, env, timeout: file.hookTimeout };
    return runStep(op.log, signal, shellStep({ ...step, confinement }));
  });
}
