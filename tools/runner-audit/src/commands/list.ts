import { appNames, hintFor } from '@runner/common/apps/store';
import { EVENT_TYPES, type LogRecord, OPERATOR_EVENTS } from '@runner/common/audit/events';
import { Unread } from '@runner/common/audit/files';
import { appendWaiting, waitingNote } from '@runner/common/audit/kept';
import { command } from '@runner/common/cli/command';
import { Failure, usage } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { jsonLine } from '@runner/common/text/harmless';
import { allRecords, type Filter, newestRecords } from '@runner/history/log/filter';
import { closeLogs, openLogs } from '@runner/history/log/lines';
import { lineCount, timeOf } from '@runner/history/log/options';
import { EventTable } from '../log/table.ts';

export const list = command({
  name: 'list',
  about: 'List the events of the audit log that match, its rotated files included',
  details:
    'In the order of the log, oldest first. An event that had to wait until the log could be written\n' +
    'stands where it was appended. TIME is ISO 8601 (UTC unless it has a zone), a date, or how long\n' +
    'ago: 30m, 2h, 7d. With --json each record is one line, as in the log.',
  options: {
    project: { kind: 'value', placeholder: 'APP', about: 'Only events of this app' },
    event: {
      kind: 'value',
      placeholder: 'EVENT',
      choices: [...EVENT_TYPES, ...OPERATOR_EVENTS, 'GuardBypassed'],
      about: 'Only events of this kind',
    },
    instance: {
      kind: 'value',
      placeholder: 'NAME',
      about: 'Only events of this instance, or of all of a,b',
    },
    deploy: { kind: 'value', placeholder: 'ID', about: 'Only events of the deploy with this ID' },
    since: { kind: 'value', placeholder: 'TIME', about: 'Only events from this time on' },
    until: { kind: 'value', placeholder: 'TIME', about: 'Only events up to this time' },
    lines: {
      kind: 'value',
      short: 'n',
      placeholder: 'N',
      about: 'Only the last N of them, up to 100000',
    },
  },
  examples: [
    'runner audit list --event DeployFailure --since 7d',
    'runner audit list --project shop -n 20 --json',
  ],
  async run(context) {
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
    const { RecordCleaner } = await import('@runner/common/redaction/redact');
    const cleaner = new RecordCleaner({ paths, env: io.env });
    let found = false;
    try {
      for await (const block of blocks) {
        found ||= block.length > 0;
        const records: LogRecord[] = [];
        for (const record of block) records.push(await cleaner.clean(record));
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
    unread.tell(note);
    const wait = waitingNote(waiting);
    if (wait !== undefined) note(wait);
    return {};
  },
});

/** Whether the app is certainly not registered: this user may not be allowed to look. */
function isUnknown(paths: Paths, app: string): boolean {
  try {
    return !appNames(paths).includes(app);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** The filter that the options describe. Throws `usage`. */
function filterOf(options: Readonly<Record<keyof Filter, string | undefined>>, now: Date): Filter {
  const { since, until, project, event, instance, deploy } = options;
  const from = since === undefined ? undefined : timeOf(since, 'since', now);
  const to = until === undefined ? undefined : timeOf(until, 'until', now, true);
  if (from !== undefined && to !== undefined && from > to)
    throw usage(`'--since ${since}' is later than '--until ${until}'`);
  return { project, event, instance, deploy, since: from, until: to };
}
