import { requireApp } from '@runner/common/apps/store';
import { appendWaiting, waitingEvents, waitingNote } from '@runner/common/audit/append';
import { textOf } from '@runner/common/audit/events';
import { logFiles, Unread } from '@runner/common/audit/files';
import { newestRecord } from '@runner/common/audit/scan';
import { type Context, command } from '@runner/common/cli/command';
import { fields } from '@runner/common/cli/output';
import { isThere } from '@runner/common/files/read';
import { isAppName } from '@runner/common/foundation/names';
import { guardFailure, trippedGuards } from '@runner/common/guards/check';
import { redactorFor } from '@runner/common/redaction/redact';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { inUtc } from '@runner/common/text/time';

/** What `last-error` prints. */
interface LastError {
  app: string;
  version: string;
  /** ISO 8601 UTC. */
  timestamp: string;
  error: string;
  event: 'DeployFailure';
}

export const lastError = command({
  name: 'last-error',
  about: 'Print the newest deploy failure of an app: version, time, full error',
  details:
    'When there is no failure on record, the status is 0 and the JSON is null: the app never failed a\n' +
    'deploy on this server, or the log was rotated away. If other users could have changed the log,\n' +
    'registry, configuration or master key, or read a secret, nothing is read: each such guard is\n' +
    'printed with the command that fixes it.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    insecure: {
      kind: 'flag',
      about: 'Bypass the security guards: prints a banner, and the audit log records it',
    },
  },
  async run(context) {
    const app = await passGuards(context, context.args.app, context.options.insecure);
    return { value: await findLastError(context, app) };
  },
  human(failure: LastError | null, style, context) {
    if (failure === null) return `No DeployFailure found for ${context.args.app}.\n`;
    const heading = style.bold(`Last DeployFailure for ${failure.app}:`);
    return `${heading}\n${fields([
      ['version:', harmlessLine(failure.version)],
      ['timestamp:', harmlessLine(failure.timestamp)],
      ['error:', harmless(withoutEndings(failure.error))],
    ])}`;
  },
});

/** The app's registered name. Throws `app_not_found`, and `guard_tripped` unless `insecure`. */
async function passGuards(context: Context, name: string, insecure: boolean): Promise<string> {
  const { io, paths } = context;
  // Only whether it exists: its content counts once the guards have passed.
  if (!isAppName(name) || !isThere(paths.state(name))) requireApp(paths, name);
  const logs = [...logFiles(paths), ...waitingEvents(paths)];
  const command = `${context.title} ${name}`;
  const asker = { io, command, rootNamed: context.options.root !== undefined };
  const tripped = trippedGuards(paths, [paths.auditLog, ...logs, paths.state(name)], asker);
  if (tripped.length > 0 && !insecure) throw guardFailure(tripped, context.note);
  const { app } = requireApp(paths, name);
  if (insecure && logs.length > 0) {
    const { bypassGuards } = await import('../bypass.ts');
    bypassGuards(context, app, tripped);
  }
  return app;
}

/** Null when there is no failure on record. Throws `log_not_found`. */
async function findLastError({ io, paths, note }: Context, app: string): Promise<LastError | null> {
  const waiting = waitingEvents(paths).length === 0 ? [] : appendWaiting(paths);
  const unread = new Unread();
  const record = await newestRecord(paths, 'DeployFailure', app, unread, waiting);
  unread.tell(note);
  const wait = waitingNote(waiting);
  if (wait !== undefined) note(wait);
  if (!record) return null;
  const [version, error] = [textOf(record, 'version'), textOf(record, 'error')];
  const redact = await redactorFor([version, error], { paths, env: io.env }, app);
  return {
    app,
    version: redact(version),
    timestamp: inUtc(textOf(record, 'timestamp')),
    error: redact(error),
    event: 'DeployFailure',
  };
}

/** Without newlines at the end. Not a regular expression: it would be quadratic. */
function withoutEndings(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}
