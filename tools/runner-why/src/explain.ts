/** Puts together why an app is not well. */
import type { ChangeSummary } from '@runner/common/apps/deployed';
import { editFor } from '@runner/common/apps/next';
import { requireApp } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import { deployedSince } from '@runner/common/apps/versions';
import { waitingEvents } from '@runner/common/audit/kept';
import { kindOf, type LogRecord, textOf } from '@runner/common/audit/record';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import type { Context } from '@runner/common/cli/command';
import { recordedFailure } from '@runner/common/cli/guarded';
import { readWindows, withWindows } from '@runner/common/config/app-windows';
import { isThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { headAndTail } from '@runner/common/text/plain';
import { word } from '@runner/common/text/shell';
import { inUtc } from '@runner/common/text/time';
import { viewOf } from '@runner/deploy/lifecycle/view';
import { type ChangedSince, changedSince, goodBefore } from './changed.ts';
import { againWords, commandsFor, reasonsOf } from './reasons.ts';

/** The newest failed deploy or rollback. */
export type FailedDeploy = ReturnType<typeof failureOf>;

/** What `runner why` prints. */
export interface AppExplanation extends Pick<AppSummary, 'app' | 'state' | 'next'> {
  /** Why the app is in its state, in addition to the failure. */
  reasons: string[];
  failure: FailedDeploy | null;
  /** Lines that say why, of what an instance that is down printed at its end; '' without. */
  printed: string;
  /** What the failed version had and the last good one had not; null without either. */
  since: ChangedSince | null;
  runs: {
    instance: string;
    version: string;
    commit: string;
    since: string;
    running: boolean | null;
  }[];
  /** What to type, at most two commands; a comment of the shell says what one would undo. */
  commands: string[];
}

const CAUSE_MAX = 800;

/** Throws `app_not_found`. */
export async function explain(context: Context, name: string): Promise<AppExplanation> {
  const { io, paths, options } = context;
  const app = requireApp(paths, name);
  const summary = summaryOf(paths, app, await viewOf({ io, paths }, [app]));
  const record = await newestOf(context, app.app);
  const runs = summary.instances.flatMap(({ instance, current, active_since, running }) => {
    if (!current) return [];
    const { version, commit, deployed_at } = current;
    return [{ instance, version, commit, since: active_since ?? deployed_at, running }];
  });
  const failure = record ? failureOf(record, summary) : null;
  const good = failure ? goodBefore(app, failure.timestamp) : undefined;
  const what = { commit: failure?.commit ?? '', cause: `${failure?.error}\n${failure?.cause}` };
  const since = good && (await changedSince({ io, paths }, app, good, what));
  const { deploy_id: id = null } = failure ?? {};
  const isKept = id !== null && /^[\w-]{8}$/.test(id) && isThere(paths.deployLog(app.app, id));
  const log = `runner debug log ${app.app} --deploy ${id}`;
  const root = options.root === undefined ? '' : ` --root ${word(paths.root)}`;
  const edit = editFor(app, summary.check_failed?.error);
  const first = edit ?? (failure && !failure.over && isKept ? log : null);
  const commands = commandsFor(paths, summary, first);
  const down = summary.instances.find((each) => each.running === false && !each.stopped);
  const value: AppExplanation = {
    app: app.app,
    state: summary.state,
    next: withWindows(summary.next, readWindows(paths, app.app, io.now())),
    reasons: reasonsOf(app, summary),
    failure,
    printed: down ? await printedBy(context, app.app, down.instance) : '',
    since: since ? { ...since, changes: id === null ? null : changesOf(context, id) } : null,
    runs,
    commands: commands.map((each) => each + root + againWords(app, each)),
  };
  const cleaner = new RecordCleaner({ paths, env: io.env });
  return (await cleaner.clean({ ...value })) as unknown as AppExplanation;
}

async function printedBy({ io, paths }: Context, app: string, instance: string) {
  const { lastWords } = await import('@runner/deploy/lifecycle/last-words');
  return await lastWords({ io, paths }, app, instance);
}

/** An app without any log has not failed. */
async function newestOf(context: Context, app: string): Promise<LogRecord | undefined> {
  try {
    return await recordedFailure(context, app);
  } catch (error) {
    if (error instanceof Failure && error.code === 'log_not_found') return undefined;
    throw error;
  }
}

function failureOf(record: LogRecord, shown: AppSummary) {
  const [error = '', ...output] = textOf(record, 'error').split('\n');
  const timestamp = inUtc(textOf(record, 'timestamp'));
  const [over = null] = deployedSince(shown.instances, timestamp);
  const stage = textOf(record, 'stage') || null;
  return {
    deploy_id: textOf(record, 'deploy_id') || null,
    version: textOf(record, 'version'),
    commit: textOf(record, 'commit') || null,
    /** ISO 8601 UTC. */
    timestamp,
    stage,
    /** Its first line. */
    error,
    /** The lines of the output that say why, or the rest of the error; at most 800 code points. */
    cause: headAndTail(textOf(record, 'cause') || output.join('\n').trimEnd(), CAUSE_MAX),
    /** Of the commit. */
    subject: textOf(record, 'subject') || null,
    author: textOf(record, 'author') || null,
    /** The version that was deployed later, also if it was left again; null: the failure may still matter. */
    over,
    /** The branch could not be checked, and can be again. */
    recovered: stage === 'fetch' && !shown.check_failed && (shown.last_checked ?? '') > timestamp,
  };
}

/** What the deploy brought, as its beginning recorded it. */
function changesOf({ paths }: Context, deployId: string): ChangeSummary | null {
  const events = eventsOfDeploy(paths, deployId, waitingEvents(paths));
  const start = events.find((each) => kindOf(each) === 'DeployStarted');
  return (start?.changes as ChangeSummary | undefined) ?? null;
}
