/**
 * The step of a deploy that migrates the database of its app: once for each deploy, before anything is
 * switched, and never two at once on one database. What it did to the schema says whether a version from
 * before still works with it.
 */

import type { Migration } from '@runner/common/apps/database';
import { nextOrder } from '@runner/common/apps/order';
import { migrationWords } from '@runner/common/apps/schema-way';
import { requireApp } from '@runner/common/apps/store';
import type { MigrationRules } from '@runner/common/deploy-file/migrate';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Target } from '../instances/drivers/driver.ts';
import { changeOwnState } from '../journal/journal.ts';
import { type Deploy, say } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { reported } from '../report/reporter.ts';
import { describeExit, succeeded } from '../run/child.ts';
import { runStep, StepFailure, tryStep } from '../run/step.ts';
import { makeBackup } from './backup.ts';
import {
  addressOf,
  commandOf,
  currentOf,
  hasVersion,
  isFirst,
  type MigrationContext,
  stepFor,
} from './context.ts';
import { isEnded, type KilledAnswer, leftByAKill, notedEnd } from './killed.ts';
import { keepLook, lastLook, withOthers } from './last-look.ts';
import { underDatabaseLock } from './lock.ts';
import { type MigrationNote, noteBegin, noteEnd, readNote } from './note.ts';
import { NOT_REHEARSED, rehearse } from './rehearsal-step.ts';
import {
  leftByFailure,
  lookAtSchema,
  requireDatabase,
  type SchemaFinding,
  worseOf,
} from './schema.ts';
import { asRecorded } from './sharing.ts';
import { isUnmade } from './tools.ts';
import { lineToNow } from './way-back.ts';

/** Characters of the line that says how to restore. */
const RESTORE_MAX = 300;
/** Migrations that an app remembers: more than releases are kept. */
const REMEMBERED = 100;

/** Without `migrate` there is no step. `answer` is the operator's about one that was killed. */
export function migrationSteps(
  op: Deploy,
  [target, ...others]: readonly Target[],
  answer: KilledAnswer | undefined,
): Step[] {
  const rules = target?.file.migrate;
  if (!target || !rules) return [];
  const run = () => {
    const left = others.filter((each) => !isOnSame(target, each, rules.database));
    const names = left.map(({ instance }) => instance.name).join(', ');
    if (names !== '')
      say(
        op,
        `only the database of ${target.instance.name} is migrated: ${rules.database} of ${names} leads to another; make it an app of its own`,
      );
    return migrate(op, target, rules, answer);
  };
  return [{ stage: 'migrate', run }];
}

/** Whether two instances use one database; what has no URL that can be read uses none. */
function isOnSame(one: Target, other: Target, variable: string): boolean {
  const of = (target: Target) => addressOf(target, variable);
  return unlessFailure(() => of(other).aliases.includes(of(one).fingerprint), true);
}

function migrate(
  op: Deploy,
  target: Target,
  rules: MigrationRules,
  answer: KilledAnswer | undefined,
): Promise<void> {
  const address = asRecorded(op, addressOf(target, rules.database));
  const context = { op, target, rules, address };
  return underDatabaseLock(op, address, rules.timeout, async () => {
    const note = await readNote(address);
    const isIn = await leftByAKill(context, answer, note);
    const keepAnswer = () => {
      const { migrating } = note;
      if (!answer || !migrating) return;
      changeOwnState(op, (app) => ({ ...app, database_answered: migrating.deploy_id }));
    };
    if (!isIn) keepAnswer();
    else {
      const now = await lookAtSchema(address);
      const said = { verdict: 'unknown' as const, reasons: [isIn] };
      const found = worseOf(said, lastLook(op, address) ?? now, now);
      keepLook(op, address, now);
      const { migrating: killed } = op.app;
      const isAnother = killed
        ? killed.commit !== op.commit
        : (note.migrating?.version ?? op.version) !== op.version;
      const by = killed && isAnother ? { ...op, ...killed, deployId: killed.deploy_id } : op;
      const seen = await noteEnd({ op: by, address }, note, { verdict: said.verdict });
      remember({ ...context, op: by }, { ...found, isSame: false }, { isIn: true, seen });
      keepAnswer();
      if (!isAnother) return;
    }
    // As the answer has left them.
    const { results } = isIn ? await readNote(address) : note;
    const now = { ...op, app: requireApp(op.paths, op.app.app) };
    await migrateLocked({ ...context, op: now }, { results });
  });
}

async function migrateLocked(context: MigrationContext, left: MigrationNote): Promise<void> {
  const { op, rules, address } = context;
  const before = await lookAtSchema(address);
  // Nothing would be known of what follows. `first` may create it.
  if (!before.catalogue && rules.isRehearsed && !isFirst(context)) await requireDatabase(address);
  const expected = rules.isRehearsed ? await rehearse(context, before) : NOT_REHEARSED;
  const restore = expected.isSame ? undefined : await backUp(context);
  const command = commandOf(context);
  const migrating = {
    ...begunNow(context),
    ...(rules.applied !== undefined && { asks: true as const }),
    ...(isFirst(context) && { first: true as const }),
  };
  changeOwnState(op, (app) => ({ ...app, database: address.fingerprint, migrating }));
  const note = await noteBegin(context, left, migrating);
  const title = `migrate: ${command}`;
  const run = async () => {
    const step = stepFor(context, command);
    const { exit, output } = await tryStep(op.log, op.signal, step);
    if (isEnded(exit)) throw await notedEnd(context, exit, { title, output });
    const after = await lookAtSchema(address);
    const own = succeeded(exit)
      ? worseOf(expected, before, after)
      : leftByFailure(address, expected.touchesRows, before, after);
    const found = withOthers(context, before, own, left);
    const seen = await noteEnd(context, note, own.isSame ? undefined : resultOf(context, own));
    keepLook(op, address, after);
    remember(context, found, { restore, isIn: succeeded(exit), seen });
    if (succeeded(exit)) return found;
    const doubt = step.confinement?.explain(output);
    const headline = `${title} ${describeExit(exit, rules.timeout)}${doubt ? `: ${doubt}` : ''}`;
    const part = op.log.parts.at(-1);
    throw new StepFailure('migrate', headline, { output, ended: { title, exit, part } });
  };
  const found = await reported(op.reporter, title, run);
  if (found.isSame || !hasVersion(op)) return;
  say(op, migrationWords({ ...found, ...(found.isProven && { verdict: 'proven' }) }));
  // A preview takes none: its database is made for it.
  if (
    rules.backup === undefined &&
    !op.app.preview &&
    found.verdict !== 'additive' &&
    !found.isProven
  )
    say(op, 'there is no backup of the database as it was: backup: auto would make one');
}

function begunNow({ op, address: { fingerprint: database } }: MigrationContext) {
  const { commit, version, deployId: deploy_id } = op;
  return { deploy_id, commit, version, at: op.io.now().toISOString(), database };
}

/** Returns how to restore it: of a command the last line that it prints. */
export async function backUp(context: MigrationContext): Promise<string | undefined> {
  const { op, rules, address } = context;
  const { backup, database: variable, timeout } = rules;
  if (backup === undefined || isUnmade(address)) return undefined;
  if (backup === 'auto') {
    await makeBackup(op, { address, variable, timeout });
    return lineToNow(op.app, op.deployId);
  }
  const run = () => runStep(op.log, op.signal, { ...stepFor(context, backup), label: 'backup' });
  const output = await reported(op.reporter, `back up: ${backup}`, run);
  const last = output.trim().split('\n').at(-1) ?? '';
  return harmlessLine(op.redact(last)).slice(0, RESTORE_MAX) || undefined;
}

/** `proven` holds for the version that was tried; what counts for others is noted with it. */
function resultOf(context: MigrationContext, { verdict, isProven }: SchemaFinding) {
  const tried = isProven ? currentOf(context)?.commit : undefined;
  return { verdict, ...(tried && { tried }) };
}

/** Notes what a migration has done; one that changed nothing is forgotten. `seen`: as noteEnd returns it. */
function remember(
  context: MigrationContext,
  { verdict, reasons, isSame, isProven }: SchemaFinding,
  {
    restore,
    isIn,
    seen,
  }: { restore?: string | undefined; isIn: boolean; seen: string | undefined },
): void {
  const { op } = context;
  const tried = currentOf(context)?.commit;
  const migration: Migration = {
    ...begunNow(context),
    ...(isProven && tried
      ? { verdict: 'proven' as const, tried, otherwise: verdict }
      : { verdict }),
    reasons: reasons.map(op.redact),
    ...(restore && { restore }),
    ...(!hasVersion(op) && { first: true as const }),
  };
  changeOwnState(op, (app) => ({
    ...app,
    migrating: null,
    ...(seen !== undefined && { database_seen: seen }),
    ...(isIn && app.migrating?.first && { first_run: op.deployId }),
    ...(!isSame && {
      migrations: [
        ...(app.migrations ?? []),
        { ...migration, order: nextOrder(app, op.io.now()) },
      ].slice(-REMEMBERED),
    }),
  }));
}
