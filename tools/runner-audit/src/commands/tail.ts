import { closeSync, fstatSync } from 'node:fs';
import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/audit/events';
import { Unread } from '@runner/common/audit/files';
import { appendWaiting, waitingNote } from '@runner/common/audit/kept';
import { type Context, command } from '@runner/common/cli/command';
import { lineStart } from '@runner/common/files/lines-backward';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { inUtc } from '@runner/common/text/time';
import { newestRecords } from '@runner/history/log/filter';
import { closeLogs, type OpenLog, openLogs } from '@runner/history/log/lines';
import { lineCount } from '@runner/history/log/options';

export const tail = command({
  name: 'tail',
  about: 'Print the newest records of the audit log, the newest last',
  details:
    'With --json each record is one line, as in the log. Rotated files are read when the newer ones\n' +
    'have too few records. -f follows the log, also through rotation.',
  options: {
    lines: {
      kind: 'value',
      short: 'n',
      placeholder: 'N',
      default: '10',
      about: 'How many records, up to 100000 [default: 10]',
    },
    follow: {
      kind: 'flag',
      short: 'f',
      about: 'Wait for further records and print them as they come',
    },
  },
  async run(context) {
    const { options, io, paths, note, print } = context;
    const count = lineCount(options.lines);
    const unread = new Unread();
    const left = appendWaiting(paths);
    // With -f they are printed once they are appended.
    const waiting = options.follow ? [] : left;
    const logs = openAll(context, unread);
    const live = logs.find((log) => log.live);
    // A line that is still being written is left to `follow`.
    if (live && options.follow) live.end = lineStart(live.fd, fstatSync(live.fd).size);
    const records = await newestRecords({ logs, waiting }, {}, count, unread);
    const { RecordCleaner } = await import('@runner/common/redaction/redact');
    const cleaner = new RecordCleaner({ paths, env: io.env });
    for (const record of records) await print(await cleaner.clean(record));
    unread.tell(note);
    const wait = waitingNote(waiting);
    if (wait !== undefined) note(wait);
    closeLogs(logs.filter((log) => log !== live));
    if (options.follow) {
      const { follow } = await import('../log/follow.ts');
      return { status: await follow(context, live?.fd, live?.end ?? 0) };
    }
    if (live) closeSync(live.fd);
    return {};
  },
  human(record: LogRecord, style) {
    const kind = String(kindOf(record) ?? '?');
    const colour =
      kind === 'DeployFailure' ? style.red : kind === 'DeploySuccess' ? style.green : style.cyan;
    const words = [
      inUtc(textOf(record, 'timestamp')) || '-',
      colour(harmlessLine(kind).padEnd(15)),
      `${String(projectOf(record) ?? '?')}/${textOf(record, 'instance') || 'default'}`,
      textOf(record, 'version') || '-',
      `[${textOf(record, 'deploy_id') || '-'}]`,
      textOf(record, 'error').split('\n')[0] || textOf(record, 'reason'),
    ];
    return `${words
      .map((word, index) => (index === 1 ? word : harmlessLine(word ?? '')))
      .join(' ')
      .trimEnd()}\n`;
  },
});

/** The files of the log; `-f` may be started before the first one exists. */
function openAll(
  { paths, options }: Pick<Context, 'paths' | 'options'>,
  unread: Unread,
): OpenLog[] {
  try {
    return openLogs(paths, (path, why) => unread.skipped(path, why));
  } catch (error) {
    if (options.follow && error instanceof Failure && error.code === 'log_not_found') return [];
    throw error;
  }
}
