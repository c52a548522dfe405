/**
 * `contract` of a release removes what no version from before it needs any more. It runs once, after the
 * deploy that leaves no older version to go back to.
 */
import type { Deployed } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import { keptTarget } from '../instances/target.ts';
import { changeOwnState } from '../journal/journal.ts';
import { type Deploy, say } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { describeExit, succeeded } from '../run/child.ts';
import { asStepFailure, StepFailure, tryStep } from '../run/step.ts';
import { databaseAddress } from './address.ts';
import { type MigrationContext, stepFor } from './context.ts';
import { keptVersions } from './kept.ts';
import { isEnded, notedEnd } from './killed.ts';
import { forgetLook } from './last-look.ts';
import { lockDatabase } from './lock.ts';
import { backUp } from './migrate.ts';

/** Runs it where it is due. A failure is noted, and not tried again. */
export async function contractIfDue(op: Deploy): Promise<void> {
  const app = requireApp(op.paths, op.app.app);
  const [oldest] = keptVersions(op.paths.app(app.app), app);
  if (!oldest || app.contracted === oldest.deploy_id || app.migrating) return;
  if (app.contract_failed === oldest.deploy_id) return;
  const [name = ''] = Object.keys(app.instances);
  // A backup of its own, beside that of the migration.
  const own = { ...op, app, deployId: `${op.deployId}-contract` };
  const target = keptTarget(own, name, oldest);
  const rules = target?.file.migrate;
  if (!target || rules?.contract === undefined) return;
  const needed = approvalRuleOf(readConfig(op.paths), app.app).counts.contract ?? 0;
  if ((op.approval?.approved_by?.length ?? 0) < needed && op.approval?.emergency === undefined) {
    op.reporter.note(
      `contract of ${oldest.version} waits for an approval: runner plan deploy ${app.app}`,
    );
    return;
  }
  try {
    const address = databaseAddress(target.env[rules.database] ?? '', target.release);
    await contract({ op: own, target, rules, address }, rules.contract, oldest);
  } catch (error) {
    op.reporter.note(`the deploy succeeded, but ${asStepFailure(error, 'migrate').message}`);
  }
}

async function contract(
  context: MigrationContext,
  command: string,
  { commit, version, deploy_id }: Deployed,
): Promise<void> {
  const { op, rules, address } = context;
  const lock = await lockDatabase(op, address, rules.timeout);
  try {
    const restore = await backUp(context);
    const at = op.io.now().toISOString();
    const started = { commit, version, at, database: address.fingerprint, contract: true as const };
    changeOwnState(op, (app) => ({ ...app, migrating: { ...started, deploy_id } }));
    const title = `contract of ${version}: ${command}`;
    await reported(op.reporter, title, async () => {
      const { exit, output } = await tryStep(op.log, op.signal, stepFor(context, command));
      const isDone = succeeded(exit);
      forgetLook(op);
      if (isEnded(exit)) throw notedEnd(context, exit, { title, output });
      changeOwnState(op, (app) => ({
        ...app,
        migrating: null,
        ...(isDone ? { contracted: deploy_id } : { contract_failed: deploy_id }),
      }));
      if (!isDone)
        throw new StepFailure('migrate', `${title} ${describeExit(exit, rules.timeout)}`);
    });
    if (restore !== undefined) say(op, `to restore what was before the contract: ${restore}`);
  } finally {
    lock.release();
  }
}
