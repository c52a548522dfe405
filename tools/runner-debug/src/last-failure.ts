/** The newest DeployFailure of an app. */
import { requireApp } from '@runner/common/apps/store';
import { appendWaiting, waitingEvents, waitingNote } from '@runner/common/audit/append';
import { textOf } from '@runner/common/audit/events';
import { logFiles, Unread } from '@runner/common/audit/files';
import { newestRecord } from '@runner/common/audit/scan';
import type { Context } from '@runner/common/cli/command';
import { isThere } from '@runner/common/files/read';
import { isAppName } from '@runner/common/foundation/names';
import { guardFailure, trippedGuards } from '@runner/common/guards/check';
import { redactorFor } from '@runner/common/redaction/redact';
import { inUtc } from '@runner/common/text/time';

/** What `last-error` prints. */
export interface LastError {
  app: string;
  version: string;
  /** ISO 8601 UTC. */
  timestamp: string;
  error: string;
  event: 'DeployFailure';
}

/**
 * Null when there is no failure on record. Throws `app_not_found`, `guard_tripped` unless `insecure`
 * is given, then `log_not_found`.
 */
export async function findLastError(
  context: Context,
  name: string,
  insecure: boolean,
): Promise<LastError | null> {
  const { io, paths } = context;
  // Asked without reading it: what it holds counts only when the guards are content.
  if (!isAppName(name) || !isThere(paths.state(name))) requireApp(paths, name);
  const kept = waitingEvents(paths);
  const files = [paths.auditLog, ...logFiles(paths), ...kept];
  const command = `${context.title} ${name}`;
  const asker = { io, command, rootNamed: context.options.root !== undefined };
  const tripped = trippedGuards(paths, [...files, paths.state(name)], asker);
  if (tripped.length > 0 && !insecure) throw guardFailure(tripped, context.note);
  const { app } = requireApp(paths, name);
  if (insecure && files.length > 1) {
    const { bypassGuards } = await import('./bypass.ts');
    bypassGuards(context, app, tripped);
  }
  const waiting = kept.length === 0 ? [] : appendWaiting(paths);
  const unread = new Unread();
  const record = await newestRecord(paths, 'DeployFailure', app, unread, waiting);
  unread.tell(context.note);
  const note = waitingNote(waiting);
  if (note !== undefined) context.note(note);
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
