import { closeSync, fstatSync } from 'node:fs';
import { Unread } from '@runner/common/audit/files';
import { appendWaiting, noteWaiting } from '@runner/common/audit/kept';
import { withBothNames } from '@runner/common/audit/record';
import type { CommandResult, Context } from '@runner/common/cli/command';
import { lineStart } from '@runner/common/files/lines-backward';
import { Failure } from '@runner/common/foundation/failure';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { newestRecords } from '@runner/history/log/filter';
import { closeLogs, type OpenLog, openLogs } from '@runner/history/log/lines';
import { lineCount } from '@runner/history/log/options';
import { follow } from './follow.ts';

type TailContext = Pick<Context, 'io' | 'paths' | 'note' | 'print'> & {
  readonly options: { readonly lines: string; readonly follow: boolean };
};

/** Prints the newest records and, with `follow`, new ones as they are appended. */
export async function tailEvents(context: TailContext): Promise<CommandResult> {
  const { options, io, paths, note, print } = context;
  const count = lineCount(options.lines);
  const unread = new Unread();
  const left = appendWaiting(paths);
  // With -f, waiting events are printed once they are appended.
  const waiting = options.follow ? [] : left;
  const logs = openAll(context, unread);
  const live = logs.find((log) => log.live);
  // A line that is still being written is left to `follow`.
  if (live && options.follow) live.end = lineStart(live.fd, fstatSync(live.fd).size);
  const records = await newestRecords({ logs, waiting }, {}, count, unread);
  const cleaner = new RecordCleaner({ paths, env: io.env });
  for (const record of records) await print(withBothNames(await cleaner.clean(record)));
  unread.report(note);
  noteWaiting(waiting, note);
  closeLogs(logs.filter((log) => log !== live));
  if (options.follow) {
    return { status: await follow(context, live?.fd, live?.end ?? 0) };
  }
  if (live) closeSync(live.fd);
  return {};
}

/** Opens the log files. With `-f`, none has to exist yet. */
function openAll(
  { paths, options }: Pick<TailContext, 'paths' | 'options'>,
  unread: Unread,
): OpenLog[] {
  try {
    return openLogs(paths, (path, why) => unread.skipped(path, why));
  } catch (error) {
    if (options.follow && error instanceof Failure && error.code === 'log_not_found') return [];
    throw error;
  }
}
