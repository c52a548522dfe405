/** A migration that was killed: it is never run again blindly. */
import { leftQuestion, withApprovals } from '@runner/common/apps/plan-words';
import { type LeftMigration, leftMigration } from '@runner/common/apps/schema-way';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { usage } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { failedSince } from '../journal/after-rollback.ts';
import { recordedEnd } from '../journal/given-id.ts';
import { changeOwnState } from '../journal/journal.ts';
import { reported } from '../report/reporter.ts';
import { describeExit, type ProcessExit } from '../run/child.ts';
import { StepFailure, tryStep } from '../run/step.ts';
import { type MigrationContext, refused, stepFor } from './context.ts';
import { type MigrationNote, noteEnd } from './note.ts';
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
  note: MigrationNote,
): Promise<string | undefined> {
  const { op, address } = context;
  const isHere = ({ migrating }: AppState) => address.aliases.includes(migrating?.database ?? '');
  const app = listApps(op.paths).apps.find(isHere);
  const elsewhere = await leftElsewhere(context, answer, note);
  if (!app?.migrating) {
    if (answer && !elsewhere) throw refused(`no migration of ${op.app.app} was killed`);
    return answer === 'yes' ? `${elsewhere}; an operator says that it is in` : undefined;
  }
  const { contract: isContract, deploy_id } = app.migrating;
  // Only its own app can answer.
  if (app.app !== op.app.app) throw unanswered(op.paths, app);
  const running = await stillRuns(context, app.migrating.at);
  const { words } = leftMigration(app) as LeftMigration;
  if (running !== undefined) throw refused(`${words}; ${running}`);
  const found = answer ?? (await askApplied(context, app));
  if (found === 'no' || isContract) {
    const contracted = { ...(isContract && found === 'yes' && { contracted: deploy_id }) };
    await noteEnd(context, note);
    changeOwnState(op, (state) => ({ ...state, migrating: null, ...contracted }));
    return undefined;
  }
  return `${words}; ${answer ? 'an operator' : 'applied'} says that it is in`;
}

/**
 * That the migration of another server was killed, or goes on without the lock. Throws a StepFailure but
 * with an answer: here neither its processes are seen, nor can `applied` know what they still do.
 */
export async function leftElsewhere(
  context: MigrationContext,
  answer: KilledAnswer | undefined,
  { migrating: left }: MigrationNote,
): Promise<string | undefined> {
  const { op } = context;
  if (!left) return undefined;
  const { app, deploy_id, server, at, asks } = left;
  // It has ended here, is what this server knows itself, or is noted where this user cannot write the answer.
  const isOwn = listApps(op.paths).apps.some(({ migrating }) => migrating?.deploy_id === deploy_id);
  if (isOwn || op.app.database_answered === deploy_id) return undefined;
  if (recordedEnd(op.paths, app, deploy_id, 'DeploySuccess')) return undefined;
  const ended = `was killed on ${server}, or still runs there`;
  const migrating = { ...left, commit: '', database: '', ended };
  const { words, hint } = leftQuestion(
    op.paths,
    { ...op.app, app, migrating },
    asks,
  ) as LeftMigration;
  if (answer === undefined || app !== op.app.app) {
    const typed = `runner deploy ${word(app)} --migrated yes|no`;
    const here = `if ${server} is gone, here: ${withApprovals(op.paths, app, [], typed)}`;
    // It ends without a new commit: the timer tries again, less and less often.
    throw refused(`${words}: on ${server} ${hint}; ${here}`, 'server');
  }
  const running = await stillRuns(context, at);
  if (running !== undefined) throw refused(`${words}; ${running}`);
  return words;
}

/** The same before anything is built, for an app that no command can answer for; undefined: it may go on. */
export function undecided(
  paths: Paths,
  app: AppState,
  { migrate }: DeployFile,
  answer: KilledAnswer | undefined,
): StepFailure | undefined {
  const { migrating } = app;
  if (!migrating || !migrate || answer) return undefined;
  const isAsked = !migrating.backup && !migrating.contract;
  if (migrate.applied !== undefined && isAsked) return undefined;
  return unanswered(paths, app, false);
}

/** Throws `usage` for an answer that no one has asked for. */
export function refuseAnswer(app: AppState, answer: KilledAnswer | undefined): void {
  // The newest deploy may have found that one of another server was.
  const isAsked = app.migrating || failedSince(app)?.stage === 'migrate';
  if (answer && !isAsked)
    throw usage(`--migrated answers for a migration that was killed, and none of ${app.app} was`);
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
  const words = `${wordsOf(op.paths, app)}${running === undefined ? '' : `; ${running}`}`;
  return new StepFailure('migrate', `migrate: ${words}`, { blame, output, ended: step });
}

function wordsOf(paths: Paths, app: AppState, asks?: false, asked = ''): string {
  const { words, hint } = leftQuestion(paths, app, asks) as LeftMigration;
  return `${words}${asked}: ${hint}`;
}

const unanswered = (...about: Parameters<typeof wordsOf>) => refused(wordsOf(...about));

/** Asks the command that looks into the tool's own table. */
async function askApplied(context: MigrationContext, app: AppState): Promise<KilledAnswer> {
  const { op, rules } = context;
  const { applied } = rules;
  if (applied === undefined || app.migrating?.backup !== undefined || app.migrating?.contract)
    throw unanswered(op.paths, app, false);
  const { exit } = await reported(op.reporter, `applied: ${applied}`, () =>
    tryStep(op.log, op.signal, stepFor(context, applied)),
  );
  if (exit.code === 0) return 'yes';
  if (exit.code === 1) return 'no';
  throw unanswered(op.paths, app, false, `; \`${applied}\` ${describeExit(exit, rules.timeout)}`);
}
