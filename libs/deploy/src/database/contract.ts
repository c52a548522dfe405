/**
 * `contract` of a release removes what no version from before it needs any more. It runs once, after the
 * deploy that leaves no older version to go back to, or by `runner contract`.
 */

import type { Deployed } from '@runner/common/apps/deployed';
import { leftQuestion } from '@runner/common/apps/plan-words';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import type { Paths } from '@runner/common/foundation/paths';
import { fileOfRelease } from '../instances/kept-file.ts';
import { keptTarget } from '../instances/target.ts';
import { eventsOf, recordAnyway } from '../journal/events.ts';
import { changeOwnState } from '../journal/journal.ts';
import { type Deploy, type Operation, say } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { describeExit, succeeded } from '../run/child.ts';
import { asStepFailure, StepFailure, tryStep } from '../run/step.ts';
import { addressOf, type MigrationContext, stepFor } from './context.ts';
import { keptVersions } from './kept.ts';
import { isEnded, leftElsewhere, notedEnd } from './killed.ts';
import { keepLook } from './last-look.ts';
import { underDatabaseLock } from './lock.ts';
import { backUp } from './migrate.ts';
import { noteBegin, noteEnd, readNote } from './note.ts';
import { lookAtSchema } from './schema.ts';

/** The contract that is due: that of the oldest version that is kept. */
export interface DueContract {
  readonly of: Deployed;
  readonly command: string;
}

/** Why none is due, in words, or which one is. */
export function dueContract(paths: Paths, app: AppState): DueContract | { readonly why: string } {
  const left = leftQuestion(paths, app);
  if (left) return { why: `${left.words}; ${left.hint}` };
  const kept = keptVersions(paths.app(app.app), app);
  const waiting = kept
    .slice(kept.findIndex(({ deploy_id }) => deploy_id === app.contracted) + 1)
    .map((of) => ({ of, command: fileOfRelease(paths, app.app, of)?.migrate?.contract }));
  const [first] = waiting.filter(({ command }) => command !== undefined);
  const [oldest] = kept;
  if (!first || !oldest) return { why: 'no release that is kept has a contract that has not run' };
  const { of, command = '' } = first;
  if (of === oldest) return { of, command };
  return {
    why: `the contract of ${of.version} waits until ${oldest.version} is not kept any more`,
  };
}

/** Runs it after a deploy, where it is due. A failure is noted, and not tried again. */
export async function contractIfDue(op: Deploy): Promise<void> {
  const app = requireApp(op.paths, op.app.app);
  const due = dueContract(op.paths, app);
  if ('why' in due || app.contract_failed === due.of.deploy_id) return;
  const needed = approvalRuleOf(readConfig(op.paths), app.app).counts.contract ?? 0;
  // The reason of an emergency is one for the deploy.
  if ((op.approval?.approved_by?.length ?? 0) < needed) {
    op.reporter.note(
      `contract of ${due.of.version} waits for an approval: runner plan contract ${app.app}`,
    );
    return;
  }
  try {
    await runContract({ ...op, app }, due);
  } catch (error) {
    op.reporter.note(`the deploy succeeded, but ${asStepFailure(error, 'migrate').message}`);
  }
}

/** Not of the deploy after which it runs, which is about another commit. */
function recordContract({ op, target }: MigrationContext): void {
  const origin = { ...op, about: {} };
  const instances = [target.instance.name];
  recordAnyway(op, eventsOf({ origin, kind: 'ContractRun', instances }, { deploy_id: null }));
}

/** Runs it after a backup. Resolves the line that restores what was before. Throws a StepFailure. */
export async function runContract(op: Operation, due: DueContract): Promise<string | undefined> {
  const { commit, version } = due.of;
  // A backup of its own, beside that of the migration.
  const own = { ...op, commit, version, deployId: `${op.deployId}-contract` };
  const file = fileOfRelease(op.paths, op.app.app, due.of);
  // As at its migration: the file's first one, which need not be the first that there was.
  const { name = '' } = file?.instances.find((each) => op.app.instances[each.name]) ?? {};
  const target = keptTarget(own, name, due.of);
  const rules = target?.file.migrate;
  if (!target || !rules) throw new StepFailure('migrate', `${version} is not kept any more`);
  const address = addressOf(target, rules.database);
  return contract({ op: own, target, rules, address }, due);
}

function contract(
  context: MigrationContext,
  { of: { commit, version, deploy_id }, command }: DueContract,
): Promise<string | undefined> {
  const { op, rules, address } = context;
  return underDatabaseLock(op, address, rules.timeout, async () => {
    const left = await readNote(address);
    await leftElsewhere(context, undefined, left);
    const restore = await backUp(context);
    const at = op.io.now().toISOString();
    const { fingerprint: database } = address;
    const migrating = { commit, version, at, database, contract: true as const, deploy_id };
    changeOwnState(op, (app) => ({ ...app, migrating }));
    const note = await noteBegin(context, left, migrating);
    const title = `contract of ${version}: ${command}`;
    await reported(op.reporter, title, async () => {
      const { exit, output } = await tryStep(op.log, op.signal, stepFor(context, command));
      const isDone = succeeded(exit);
      keepLook(op, address, await lookAtSchema(address));
      if (isEnded(exit)) throw await notedEnd(context, exit, { title, output });
      await noteEnd(context, note);
      changeOwnState(op, (app) => ({
        ...app,
        migrating: null,
        ...(isDone ? { contracted: deploy_id } : { contract_failed: deploy_id }),
      }));
      if (isDone) recordContract(context);
      if (!isDone)
        throw new StepFailure('migrate', `${title} ${describeExit(exit, rules.timeout)}`);
    });
    if (restore !== undefined) say(op, `to restore what was before the contract: ${restore}`);
    return restore;
  });
}
