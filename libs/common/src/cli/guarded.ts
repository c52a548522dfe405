/** The newest failure of an app, for commands that read it only if the guards pass. */
import { logFiles, Unread } from '../audit/files.ts';
import { appendWaiting, noteWaiting, waitingEvents } from '../audit/kept.ts';
import type { LogRecord } from '../audit/record.ts';
import { newestFailure } from '../audit/scan.ts';
import { type Tripped, trippedGuards } from '../guards/check.ts';
import type { Context } from './command.ts';

/** The guards that trip on the state of an app and on the log with its failures. */
export function guardsOf({ io, paths, options, title }: Context, app: string): Tripped[] {
  const logs = [paths.auditLog, ...logFiles(paths), ...waitingEvents(paths), paths.state(app)];
  const asker = { io, command: `${title} ${app}`, rootNamed: options.root !== undefined };
  return trippedGuards(paths, logs, asker);
}

/** The record of the newest failure; undefined if there is none. Throws `log_not_found`. */
export async function recordedFailure(
  { paths, note }: Context,
  app: string,
): Promise<LogRecord | undefined> {
  const waiting = waitingEvents(paths).length === 0 ? [] : appendWaiting(paths);
  const unread = new Unread();
  const record = await newestFailure(paths, app, unread, waiting);
  // It reads no further than it must.
  unread.report(note, ', of the lines read');
  noteWaiting(waiting, note);
  return record;
}
