import { allNames, hintFor } from '@runner/common/apps/store';
import { Unread } from '@runner/common/audit/files';
import { appendWaiting, noteWaiting } from '@runner/common/audit/kept';
import { type LogRecord, withBothNames } from '@runner/common/audit/record';
import type { CommandResult, Context } from '@runner/common/cli/command';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { usage } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { jsonLine } from '@runner/common/text/harmless';
import { allRecords, newestRecords, type RecordFilter } from '@runner/history/log/filter';
import { closeLogs, openLogs } from '@runner/history/log/lines';
import { lineCount, timeOf } from '@runner/history/log/options';
import { EventTable } from './table.ts';

type ListOptions = Readonly<Record<keyof RecordFilter, string | undefined>>;
type ListContext = Omit<Context, 'options'> & {
  readonly options: ListOptions & { readonly lines: string | undefined };
};

/** Prints the events that match. */
export async function listEvents(context: ListContext): Promise<CommandResult> {
  const { io, paths, format, note, options } = context;
  const count = options.lines === undefined ? undefined : lineCount(options.lines);
  const filter = filterOf(options, io.now());
  const waiting = appendWaiting(paths);
  const unread = new Unread();
  const logs = openLogs(paths, (path, why) => unread.skipped(path, why));
  const sources = { logs, waiting };
  const blocks =
    count === undefined
      ? allRecords(sources, filter, unread)
      : [await newestRecords(sources, filter, count, unread)];
  const table = new EventTable(context);
  const cleaner = new RecordCleaner({ paths, env: io.env });
  let found = false;
  try {
    for await (const block of blocks) {
      found ||= block.length > 0;
      const records: LogRecord[] = [];
      for (const record of block) records.push(withBothNames(await cleaner.clean(record)));
      if (format === 'human') table.add(records);
      else if (format === 'json')
        io.stdout.write(records.map((record) => `${jsonLine(record)}\n`).join(''));
      else for (const record of records) await context.print(record);
      if (io.stdout.closed) return {};
    }
  } finally {
    closeLogs(logs);
  }
  if (format === 'human' && !table.end()) io.stdout.write('No such events.\n');
  const { project } = filter;
  if (!found && project !== undefined && isUnknown(paths, project))
    note(`no app called '${project}' is registered on this server${hintFor(paths, project)}`);
  unread.report(note);
  noteWaiting(waiting, note);
  return {};
}

/** False also if this user may not read the registry. */
function isUnknown(paths: Paths, app: string): boolean {
  return unlessFailure(() => !allNames(paths).includes(app), false);
}

/** The filter that the options describe. Throws `usage`. */
function filterOf(options: ListOptions, now: Date): RecordFilter {
  const { since, until, project, event, instance, deploy } = options;
  const from = since === undefined ? undefined : timeOf(since, 'since', now);
  const to = until === undefined ? undefined : timeOf(until, 'until', now, true);
  if (from !== undefined && to !== undefined && from > to)
    throw usage(`'--since ${since}' is later than '--until ${until}'`);
  return { project, event, instance, deploy, since: from, until: to };
}
