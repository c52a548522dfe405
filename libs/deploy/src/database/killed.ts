/** A migration that was killed: it is never run again blindly. */
import type { AppState, StartedMigration } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { word } from '@runner/common/text/shell';
import { changeOwnState } from '../journal/journal.ts';
import { reported } from '../report/reporter.ts';
import { describeExit } from '../run/child.ts';
import { StepFailure, tryStep } from '../run/step.ts';
import { type MigrationContext, stepFor } from './context.ts';
import { restoreLine } from './way-back.ts';

/** What an operator says of one that was killed: it is in, or it is not. */
export type KilledAnswer = 'yes' | 'no';

/**
 * Decides about a migration of this database that was killed. Returns why the migrations of this release
 * are in and need not be run; undefined if they are to be run. Throws a StepFailure if no one knows.
 */
export async function leftByAKill(
  context: MigrationContext,
  answer: KilledAnswer | undefined,
): Promise<string | undefined> {
  const { op, address } = context;
  const left = startedOn(context, address.fingerprint);
  if (!left) return undefined;
  const [app, started] = left;
  const what = wordsOf(app.app, started);
  // Only its own app can answer.
  if (app.app !== op.app.app) throw unanswered(what, app.app, started);
  const found = answer ?? (await askApplied(context, started, what));
  const isContract = started.contract === true;
  if (found === 'no' || isContract) {
    const contracted = { ...(isContract && found === 'yes' && { contracted: started.deploy_id }) };
    changeOwnState(op, (state) => ({ ...state, migrating: null, ...contracted }));
    return undefined;
  }
  return `${what}; ${answer ? 'an operator' : 'applied'} says that it is in`;
}

/** The same before anything is built, for an app that no command can answer for; undefined: it may go on. */
export function undecided(
  { app, migrating }: AppState,
  { migrate }: DeployFile,
  answer: KilledAnswer | undefined,
): StepFailure | undefined {
  if (!migrating || !migrate || answer) return undefined;
  const isAsked = !migrating.backup && !migrating.contract;
  if (migrate.applied !== undefined && isAsked) return undefined;
  return unanswered(wordsOf(app, migrating), app, migrating);
}

const wordsOf = (app: string, { version, at, backup, contract }: StartedMigration) =>
  `the ${contract ? 'contract' : backup === undefined ? 'migration' : 'restore'} of ${version} of ${app}, begun at ${at}, was killed`;

function unanswered(what: string, app: string, started: StartedMigration): StepFailure {
  const { version, backup } = started;
  const hint =
    backup === undefined
      ? `look into the database, then runner deploy ${word(app)} --migrated yes|no`
      : `run it once more: ${restoreLine({ app }, version, backup)}`;
  return new StepFailure('migrate', `migrate: ${what}: ${hint}`, { blame: 'operator' });
}

function startedOn(
  { op }: MigrationContext,
  database: string,
): [AppState, StartedMigration] | undefined {
  for (const app of listApps(op.paths).apps)
    if (app.migrating?.database === database) return [app, app.migrating];
  return undefined;
}

/** Asks the command that looks into the tool's own table. */
async function askApplied(
  context: MigrationContext,
  started: StartedMigration,
  what: string,
): Promise<KilledAnswer> {
  const { op, rules } = context;
  const { applied } = rules;
  if (applied === undefined || started.backup !== undefined || started.contract)
    throw unanswered(what, op.app.app, started);
  const { exit } = await reported(op.reporter, `applied: ${applied}`, () =>
    tryStep(op.log, op.signal, stepFor(context, applied)),
  );
  if (exit.code === 0) return 'yes';
  if (exit.code === 1) return 'no';
  const asked = `\`${applied}\` ${describeExit(exit, rules.timeout)}`;
  throw unanswered(`${what}; ${asked}`, op.app.app, started);
}
