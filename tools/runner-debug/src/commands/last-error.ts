import { requireApp } from '@runner/common/apps/store';
import { logFiles } from '@runner/common/audit/files';
import { waitingEvents } from '@runner/common/audit/kept';
import { textOf } from '@runner/common/audit/record';
import { logNotFound } from '@runner/common/audit/scan';
import { type Context, command } from '@runner/common/cli/command';
import { guardsOf, recordedFailure } from '@runner/common/cli/guarded';
import { fields } from '@runner/common/cli/output';
import { isThere } from '@runner/common/files/read';
import { isAppName } from '@runner/common/foundation/names';
import { guardFailure } from '@runner/common/guards/check';
import { redactorFor } from '@runner/common/redaction/redact';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';
import { inUtc } from '@runner/common/text/time';
import { bypassGuards } from '../bypass.ts';

/** What `last-error` prints. */
type LastError = NonNullable<Awaited<ReturnType<typeof findLastError>>>;

export const lastError = command({
  name: 'last-error',
  about: 'Print the newest deploy failure of an app: version, time, full error',
  details:
    'Without a failure on record, the exit status is 0 and the JSON is null. If other users could have\n' +
    'changed the log, registry, configuration or master key, or read a secret, nothing is shown: each\n' +
    'finding is printed with the command that fixes it. runner why <app> says more.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    insecure: {
      about: 'Bypass the security guards: prints a banner, and the audit log records it',
    },
  },
  safeInForeignRoot: true,
  async run(context) {
    const { paths } = context;
    // Before the record of a bypass, which creates one.
    const hasLog = logFiles(paths).length + waitingEvents(paths).length > 0;
    const app = await passGuards(context, context.args.app, { ...context.options, hasLog });
    if (!hasLog) throw logNotFound(paths);
    const failure = await findLastError(context, app);
    noteWatch(context, app, failure);
    return { value: failure };
  },
  human(failure: LastError | null, style, context) {
    if (failure === null) return `No DeployFailure found for ${context.args.app}.\n`;
    const heading = style.bold(`Last DeployFailure for ${failure.app}:`);
    return `${heading}\n${fields([
      ['version:', harmlessLine(failure.version) || '-'],
      ['timestamp:', harmlessLine(failure.timestamp) || '-'],
      ['error:', harmless(withoutEndings(failure.error))],
      ...furtherFields(failure),
    ])}`;
  },
});

/** A release that was deployed and then judged bad has no DeployFailure. */
function noteWatch({ paths, note }: Context, app: string, failure: LastError | null): void {
  const { watched } = requireApp(paths, app);
  if (watched?.verdict !== 'bad' || (failure && failure.timestamp > watched.at)) return;
  note(
    `${watched.version} was deployed later and judged bad at ${watched.at}: ${watched.reason} (runner watch ${app})`,
  );
}

function furtherFields({ deploy_id, stage, commit, duration_ms, log_command }: LastError) {
  const rows: [label: string, value: string | null][] = [
    ['deploy:', deploy_id],
    ['stage:', stage],
    ['commit:', commit],
    ['duration:', duration_ms === null ? null : `${(duration_ms / 1000).toFixed(1)} s`],
    ['whole log:', log_command],
  ];
  return rows.flatMap(([label, value]) => (value ? [[label, harmlessLine(value)] as const] : []));
}

/** The app's registered name. Throws `app_not_found`, and `guard_tripped` unless `insecure`. */
async function passGuards(
  context: Context,
  name: string,
  { insecure, hasLog }: { readonly insecure: boolean; readonly hasLog: boolean },
): Promise<string> {
  const { paths } = context;
  // Only whether it exists: its content counts once the guards have passed.
  if (!isAppName(name) || (!insecure && !isThere(paths.state(name)))) requireApp(paths, name);
  const tripped = guardsOf(context, name);
  if (tripped.length > 0 && !insecure) throw guardFailure(tripped, context.note);
  // Even for an unknown app; if there is no log either, nothing is read, and none is created.
  if (insecure && (hasLog || isThere(paths.state(name)))) bypassGuards(context, name, tripped);
  return requireApp(paths, name).app;
}

/** Null when there is no failure on record. Throws `log_not_found`. */
async function findLastError(context: Context, app: string) {
  const { io, paths } = context;
  const record = await recordedFailure(context, app);
  if (!record) return null;
  const text = (field: string) => textOf(record, field);
  const texts = ['version', 'error', 'deploy_id', 'stage', 'commit'].map(text);
  const redact = await redactorFor(texts, { paths, env: io.env }, app);
  const duration = record.duration_ms;
  return {
    app,
    version: redact(text('version')),
    /** ISO 8601 UTC. */
    timestamp: inUtc(text('timestamp')),
    error: redact(text('error')),
    event: 'DeployFailure',
    /** Whether the error was longer than a record may be and lost its middle. */
    truncated: record.truncated === true,
    deploy_id: redact(text('deploy_id')) || null,
    stage: redact(text('stage')) || null,
    commit: redact(text('commit')) || null,
    duration_ms: typeof duration === 'number' ? duration : null,
    /** The command that shows the whole log; null when no log is kept. */
    log_command: logCommand(context, app, text('deploy_id')),
  };
}

function logCommand({ paths, options }: Context, app: string, deployId: string): string | null {
  if (!/^[A-Za-z0-9_-]{8}$/.test(deployId) || !isThere(paths.deployLog(app, deployId))) return null;
  const root = options.root === undefined ? '' : ` --root ${word(paths.root)}`;
  return `runner debug log ${app} --deploy ${deployId}${root}`;
}

/** Without newlines at the end. Not a regular expression: it would be quadratic. */
function withoutEndings(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}
