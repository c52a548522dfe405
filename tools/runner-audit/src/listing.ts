/** `list`: the wanted records as a table or as a stream. */
import { appendWaiting, waitingNote } from '@runner/common/audit/append';
import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/audit/events';
import { Unread } from '@runner/common/audit/files';
import type { Context } from '@runner/common/cli/command';
import { cells, fit, pad, type Style } from '@runner/common/cli/output';
import { usage } from '@runner/common/foundation/failure';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { harmlessLine, jsonLine } from '@runner/common/text/harmless';
import { inUtc } from '@runner/common/text/time';
import { closeLogs, openLogs } from './log-lines.ts';
import { chosenRecords, type Filter, newestChosen } from './selecting.ts';
import { timeOf } from './when.ts';

type ListContext = Pick<Context, 'io' | 'paths' | 'print' | 'note' | 'format' | 'style'>;

/** The filter that the options say; `since` and `until` are times as in when.ts. Throws `usage`. */
export function filterOf(
  options: Readonly<Record<keyof Filter, string | undefined>>,
  now: Date,
): Filter {
  const { since, until } = options;
  const from = since === undefined ? undefined : timeOf(since, 'since', now);
  const to = until === undefined ? undefined : timeOf(until, 'until', now, true);
  if (from !== undefined && to !== undefined && from > to)
    throw usage(`'--since ${since}' is later than '--until ${until}'`);
  const { project, event, instance, deploy } = options;
  return { project, event, instance, deploy, since: from, until: to };
}

const HEADING = ['TIME (UTC)', 'EVENT', 'APP', 'VERSION', 'DEPLOY'];
/** So many rows decide how wide the columns are; those that come later are printed as they come. */
const ROWS_MEASURED = 500;

/** Prints the wanted records, oldest first; with `count` only the newest so many. */
export async function printList(
  context: ListContext,
  filter: Filter,
  count: number | undefined,
): Promise<void> {
  const { io, paths, format, note } = context;
  const waiting = appendWaiting(paths);
  const unread = new Unread();
  const logs = openLogs(paths, (path, why) => unread.skipped(path, why));
  const sources = { logs, waiting };
  const blocks =
    count === undefined
      ? chosenRecords(sources, filter, unread)
      : [await newestChosen(sources, filter, count, unread)];
  const rows = new Table(context);
  const cleaner = new RecordCleaner({ paths, env: io.env });
  try {
    for await (const block of blocks) {
      const records: LogRecord[] = [];
      for (const each of block) records.push(await cleaner.clean(each));
      if (format === 'human') rows.add(records);
      else if (format === 'json')
        io.stdout.write(records.map((each) => `${jsonLine(each)}\n`).join(''));
      else for (const record of records) await context.print(record);
      if (io.stdout.closed) return;
    }
  } finally {
    closeLogs(logs);
  }
  if (format === 'human') rows.end();
  unread.tell(note);
  const wait = waitingNote(waiting);
  if (wait !== undefined) note(wait);
}

/** A table whose rows are printed before all are known. */
class Table {
  readonly #context: ListContext;
  #waiting: string[][] = [];
  #kinds: string[] = [];
  #widths: number[] | undefined;

  constructor(context: ListContext) {
    this.#context = context;
  }

  add(records: readonly LogRecord[]): void {
    for (const record of records) {
      this.#waiting.push(rowOf(record));
      this.#kinds.push(String(kindOf(record)));
    }
    if (this.#waiting.length >= ROWS_MEASURED) this.#print();
  }

  end(): void {
    if (this.#waiting.length > 0) this.#print();
    else if (!this.#widths) this.#context.io.stdout.write('No such events.\n');
  }

  #print(): void {
    const { io, style } = this.#context;
    const rows = this.#waiting;
    const first = this.#widths === undefined;
    this.#widths ??= widthsOf(rows, io.stdout.isTTY ? io.stdout.columns : undefined);
    const lines = rows.map((row, index) => this.#line(row, colourOf(this.#kinds[index], style)));
    if (first) lines.unshift(this.#line(HEADING, style.bold));
    io.stdout.write(lines.join(''));
    this.#waiting = [];
    this.#kinds = [];
  }

  #line(row: readonly string[], look: (text: string) => string): string {
    const { stdout } = this.#context.io;
    const { isTTY } = stdout;
    const widths = this.#widths ?? [];
    const parts = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      if (!isTTY) return pad(cell, width);
      return pad(column === 0 && width < FULL_TIME ? shortTime(cell) : fit(cell, width), width);
    });
    const text = parts.join('  ').trimEnd();
    return `${look(isTTY ? fit(text, stdout.columns) : text)}\n`;
  }
}

/** Cells of `2026-05-04 09:30:00`, and of `05-04 09:30`. */
const FULL_TIME = 19;
const SHORT_TIME = 11;

function shortTime(time: string): string {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time) ? time.slice(5, 16) : fit(time, SHORT_TIME);
}

/** What gives way on a narrow terminal, one after the other; the id of a deploy does not. */
const GIVE_WAY = [
  { column: 2, least: 12 },
  { column: 3, least: 8 },
  { column: 0, least: SHORT_TIME },
  { column: 2, least: 6 },
  { column: 1, least: 9 },
] as const;

/** Widths of the columns; on a terminal those that give way are cut. */
function widthsOf(rows: readonly (readonly string[])[], columns: number | undefined): number[] {
  const widths = HEADING.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, cells(row[column] ?? '')), title.length),
  );
  if (columns === undefined) return widths;
  for (const { column, least } of GIVE_WAY) {
    const over = widths.reduce((sum, width) => sum + width + 2, -2) - columns;
    const width = widths[column] as number;
    const less = column === 0 ? least : Math.max(least, width - over);
    if (over > 0) widths[column] = Math.min(width, less);
  }
  return widths;
}

function rowOf(record: LogRecord): string[] {
  const time = inUtc(textOf(record, 'timestamp'));
  const instance = textOf(record, 'instance');
  const shown = [
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]{0,16}Z$/.test(time)
      ? time.slice(0, 19).replace('T', ' ')
      : time || '-',
    kindOf(record) === undefined ? '?' : String(kindOf(record)),
    `${projectOf(record) ?? '?'}${instance && instance !== 'default' ? `/${instance}` : ''}`,
    textOf(record, 'version') || '-',
    textOf(record, 'deploy_id') || '-',
  ];
  return shown.map(harmlessLine);
}

function colourOf(kind: string | undefined, style: Style): (text: string) => string {
  if (kind === 'DeployFailure') return style.red;
  if (kind === 'DeploySuccess') return style.green;
  return kind === 'DeployStarted' ? (text) => text : style.yellow;
}
