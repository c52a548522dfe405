/** A migration that was killed: it is never run again blindly. */
import { type LeftMigration, leftMigration } from '@runner/common/apps/schema-way';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { changeOwnState } from '../journal/journal.ts';
import { reported } from '../report/reporter.ts';
import { describeExit, type ProcessExit } from '../run/child.ts';
import { StepFailure, tryStep } from '../run/step.ts';
import { type MigrationContext, stepFor } from './context.ts';
import { stillRuns } from './still-runs.ts';

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
  const app = startedOn(context, address.fingerprint);
  if (!app?.migrating) return undefined;
  const { contract: isContract, deploy_id } = app.migrating;
  // Only its own app can answer.
  if (app.app !== op.app.app) throw unanswered(app);
  const running = await stillRuns(context, app.migrating.at);
  const { words } = leftMigration(app) as LeftMigration;
  if (running !== undefined)
    throw new StepFailure('migrate', `migrate: ${words}; ${running}`, { blame: 'operator' });
  const found = answer ?? (await askApplied(context, app));
  if (found === 'no' || isContract) {
    const contracted = { ...(isContract && found === 'yes' && { contracted: deploy_id }) };
    changeOwnState(op, (state) => ({ ...state, migrating: null, ...contracted }));
    return undefined;
  }
  return `${words}; ${answer ? 'an operator' : 'applied'} says that it is in`;
}

/** The same before anything is built, for an app that no command can answer for; undefined: it may go on. */
export function undecided(
  app: AppState,
  { migrate }: DeployFile,
  answer: KilledAnswer | undefined,
): StepFailure | undefined {
  const { migrating } = app;
  if (!migrating || !migrate || answer) return undefined;
  const isAsked = !migrating.backup && !migrating.contract;
  if (migrate.applied !== undefined && isAsked) return undefined;
  return unanswered(app, false);
}

/** Whether no one knows what a command has done: it was ended, by a signal or as a shell says that it was. */
export function isEnded({ code, signal, timedOut, interrupted }: ProcessExit): boolean {
  return timedOut || interrupted || signal !== null || (code !== null && code > 128 && code < 160);
}

/** Notes how a command was ended half way: what it did may be in. Returns what that means. */
export async function notedEnd(
  context: MigrationContext,
  exit: ProcessExit,
  { title, output }: { readonly title: string; readonly output: string },
): Promise<StepFailure> {
  const { op, rules } = context;
  const ended = describeExit(exit, rules.timeout);
  const app = changeOwnState(op, (state) => ({
    ...state,
    ...(state.migrating && { migrating: { ...state.migrating, ended } }),
  }));
  const step = { title, exit, part: op.log.parts.at(-1) };
  // What `applied` answers for is tried again, but not for ever.
  const blame = app.migrating?.asks && !exit.interrupted ? 'commit' : 'operator';
  // Without an answer now: it is asked again before anything else.
  const running = await stillRuns(context, app.migrating?.at ?? '').catch(() => undefined);
  const words = `${wordsOf(app)}${running === undefined ? '' : `; ${running}`}`;
  return new StepFailure('migrate', words, { blame, output, ended: step });
}

function wordsOf(app: AppState, asks?: false, asked = ''): string {
  const { words, hint } = leftMigration(app, asks) as LeftMigration;
  return `migrate: ${words}${asked}: ${hint}`;
}

function unanswered(...about: Parameters<typeof wordsOf>): StepFailure {
  return new StepFailure('migrate', wordsOf(...about), { blame: 'operator' });
}

function startedOn({ op }: MigrationContext, database: string): AppState | undefined {
  return listApps(op.paths).apps.find(({ migrating }) => migrating?.database === database);
}

/** Asks the command that looks into the tool's own table. */
async function askApplied(context: MigrationContext, app: AppState): Promise<KilledAnswer> {
  const { op, rules } = context;
  const { applied } = rules;
  if (applied === undefined || app.migrating?.backup !== undefined || app.migrating?.contract)
    throw unanswered(app, false);
  const { exit } = await reported(op.reporter, `applied: ${applied}`, () =>
    tryStep(op.log, op.signal, stepFor(context, applied)),
  );
  if (exit.code === 0) return 'yes';
  if (exit.code === 1) return 'no';
  throw unanswered(app, false, `; \`${applied}\` ${describeExit(exit, rules.timeout)}`);
}
