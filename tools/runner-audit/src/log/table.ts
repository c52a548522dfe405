/** A table of records that prints rows before all records are known. */
import { kindOf, type LogRecord, projectOf, textOf } from '@runner/common/audit/record';
import type { Context } from '@runner/common/cli/command';
import { cells, fit, pad, type Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { inUtc } from '@runner/common/text/time';

type TableContext = Pick<Context, 'io' | 'style'>;

const HEADING = ['TIME (UTC)', 'EVENT', 'APP', 'VERSION', 'DEPLOY'];
/** Column widths are measured on the first rows. */
const ROWS_MEASURED = 500;
/** Widths of `2026-05-04 09:30:00` and of `05-04 09:30`. */
const FULL_TIME = 19;
const SHORT_TIME = 11;
/** Columns that shrink on a narrow terminal, in this order; the deploy ID never does. */
const SHRINK = [
  { column: 2, least: 12 },
  { column: 3, least: 8 },
  { column: 0, least: SHORT_TIME },
  { column: 2, least: 6 },
  { column: 1, least: 9 },
] as const;

/** Add records, then call `end`. */
export class EventTable {
  readonly #context: TableContext;
  #waiting: LogRecord[] = [];
  #widths: number[] | undefined;

  constructor(context: TableContext) {
    this.#context = context;
  }

  add(records: readonly LogRecord[]): void {
    for (const record of records) this.#waiting.push(record);
    if (this.#waiting.length >= ROWS_MEASURED) this.#print();
  }

  /** Prints the remaining rows. Returns whether there was any record. */
  end(): boolean {
    if (this.#waiting.length > 0) this.#print();
    return this.#widths !== undefined;
  }

  #print(): void {
    const { io, style } = this.#context;
    const rows = this.#waiting.map(rowOf);
    const columns = io.stdout.isTTY ? io.stdout.columns : undefined;
    const first = this.#widths === undefined;
    const widths = this.#widths ?? widthsOf(rows, columns);
    const lines = rows.map((row, index) =>
      colourOf(kindOf(this.#waiting[index] as LogRecord), style)(lineOf(row, widths, columns)),
    );
    if (first) lines.unshift(style.bold(lineOf(HEADING, widths, columns)));
    io.stdout.write(`${lines.join('\n')}\n`);
    this.#widths = widths;
    this.#waiting = [];
  }
}

function lineOf(
  row: readonly string[],
  widths: readonly number[],
  columns: number | undefined,
): string {
  const parts = row.map((cell, column) => {
    const width = widths[column] ?? 0;
    if (columns === undefined) return pad(cell, width);
    return pad(column === 0 && width < FULL_TIME ? shortTime(cell) : fit(cell, width), width);
  });
  const text = parts.join('  ').trimEnd();
  return columns === undefined ? text : fit(text, columns);
}

function shortTime(time: string): string {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time) ? time.slice(5, 16) : fit(time, SHORT_TIME);
}

function widthsOf(rows: readonly (readonly string[])[], columns: number | undefined): number[] {
  const widths = HEADING.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, cells(row[column] ?? '')), title.length),
  );
  if (columns === undefined) return widths;
  for (const { column, least } of SHRINK) {
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
      ? time.slice(0, FULL_TIME).replace('T', ' ')
      : time || '-',
    String(kindOf(record) ?? '?'),
    `${projectOf(record) ?? '?'}${instance && instance !== 'default' ? `/${instance}` : ''}`,
    textOf(record, 'version') || '-',
    callOf(record) ?? (textOf(record, 'deploy_id') || '-'),
  ];
  return shown.map(harmlessLine);
}

/** What an agent asked for, and how it went; undefined of any other record. */
function callOf(record: LogRecord): string | undefined {
  if (kindOf(record) !== 'AgentCall') return undefined;
  const [grant, tool, outcome] = ['grant', 'tool', 'outcome'].map((name) => textOf(record, name));
  return `${grant || '(no grant)'} ${tool}: ${outcome}`;
}

function colourOf(kind: unknown, style: Style): (text: string) => string {
  if (kind === 'DeployFailure') return style.red;
  if (kind === 'DeploySuccess') return style.green;
  return kind === 'DeployStarted' ? (text) => text : style.yellow;
}
