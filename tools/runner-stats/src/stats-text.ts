/** The figures for people: with pictures on a terminal, plain in a pipe. */
import { fields, type Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';
import type { PastDeploy } from '@runner/history/deploys/deploy';
import {
  type Figures,
  figuresOf,
  isIn,
  type Period,
  percentile,
} from '@runner/history/figures/figures';

/** What the text is about. */
export interface StatsSource {
  readonly history: readonly PastDeploy[];
  readonly period: Period;
  /** All apps if undefined. */
  readonly app: string | undefined;
}

const DAY = 86_400_000;
/** Most days of a sparkline, and cells of the bar of outcomes. */
const COLUMNS = 40;
/** Cells before a value. */
const LABEL = 20;
const LEVELS = '▁▂▃▄▅▆▇█';

/** `width` is that of the terminal; undefined in a pipe. */
export function statsText(source: StatsSource, style: Style, width: number | undefined): string {
  const { history, period, app } = source;
  const figures = figuresOf(history, period);
  const { lead_time_s: lead, time_to_restore_s: restore, duration_ms: took } = figures;
  const deploys = history.filter((deploy) => !deploy.byHand && isIn(period, deploy));
  const outcomes = outcomesOf(deploys);
  const isDrawn = width !== undefined && deploys.length > 0;
  const room = Math.max(1, (width ?? Number.POSITIVE_INFINITY) - LABEL);
  const cells = Math.min(COLUMNS, room);
  const columns = columnsOf(deploys, period, cells);
  const drawn = (label: string, draw: () => string): [string, string][] => {
    const line = isDrawn ? draw() : '';
    return line === '' ? [] : [[label, line]];
  };
  const rows: [string, string][] = [
    ['deploys:', `${figures.deploys}, ${number(figures.per_day)} a day`],
    ...drawn('over time:', () => sparkline(columns.map(({ length }) => length))),
    ...(outcomes.length > 0 ? [['outcomes:', inWords(outcomes)] as [string, string]] : []),
    ...drawn('', () => bar(outcomes, cells, style)),
    ['changes:', `${figures.changes}${failures(figures)}`],
    ['lead time:', pair(seconds(lead.p50), 'p90', seconds(lead.p90))],
    ['time to restore:', pair(seconds(restore.p50), 'p90', seconds(restore.p90))],
    ['duration:', pair(durationText(took.p50), 'p95', durationText(took.p95))],
    ...drawn('over time:', () => sparkline(columns.map(medianOf))),
    ...steps(figures).map((line, index): [string, string] => [index ? '' : 'slowest steps:', line]),
  ];
  // Of a short period a date alone says too little.
  const isShort = period.until - period.since < 2 * DAY;
  const since = figures.since.slice(0, isShort ? 16 : 10).replace('T', ' ');
  const heading = `${app ?? 'All apps'} since ${since}`;
  const folded = rows.map(([label, value]) => [label, fold(value, room)] as const);
  return `${style.bold(harmlessLine(heading))}\n${fields(folded)}`;
}

/** Breaks a text that is too long between its words. */
function fold(text: string, room: number): string {
  const isPicture = !/[a-z]/i.test(text.replace(/\x1b\[\d+m/g, ''));
  if (isPicture || text.length <= room) return text;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join('\n');
}

function number(value: number): string {
  return String(value < 1 ? Number(value.toPrecision(2)) : Math.round(value * 10) / 10);
}

function failures({ changes, change_failure_rate: rate }: Figures): string {
  if (rate === null) return '';
  return `, ${Math.round(rate * changes)} failed (${number(rate * 100)} %)`;
}

function seconds(value: number | null): string {
  return value === null ? '' : durationText(value * 1000);
}

function pair(median: string, name: string, high: string): string {
  return median === '' ? '-' : `p50 ${median}, ${name} ${high}`;
}

/** Two lines, so that they fit a terminal of 80 columns. */
function steps({ slowest_steps }: Figures): string[] {
  const shown = slowest_steps.map(({ stage, p95 }) =>
    harmlessLine(`${stage} ${durationText(p95)}`),
  );
  if (shown.length === 0) return ['-'];
  const lines = [shown.slice(0, 3), shown.slice(3)].filter(({ length }) => length > 0);
  return lines.map(
    (line, index) => `${line.join(', ')}${index === lines.length - 1 ? ' (p95)' : ','}`,
  );
}

/** The deploys of each day; of several days where the period is long. */
function columnsOf(
  deploys: readonly PastDeploy[],
  { since, until }: Period,
  most: number,
): PastDeploy[][] {
  const count = Math.min(most, Math.max(1, Math.ceil((until - since) / DAY)));
  const columns = Array.from({ length: count }, (): PastDeploy[] => []);
  for (const deploy of deploys)
    columns[Math.floor(((deploy.start - since) / (until - since)) * count)]?.push(deploy);
  return columns;
}

/** The median duration of a column. */
function medianOf(column: readonly PastDeploy[]): number {
  const took = column.flatMap(({ duration_ms }) => duration_ms ?? []);
  return percentile(took, 50) ?? 0;
}

/** A cell for each value, empty for 0; of one value alone nothing could be seen. */
function sparkline(values: readonly number[]): string {
  if (values.filter((value) => value > 0).length < 2) return '';
  const most = Math.max(...values);
  return values
    .map((value) => (value === 0 ? ' ' : LEVELS[Math.ceil((value / most) * LEVELS.length) - 1]))
    .join('');
}

/** The results that occur. */
function outcomesOf(deploys: readonly PastDeploy[]) {
  const groups = [
    ['succeeded', 'green', ({ result }: PastDeploy) => result === 'success'],
    ['failed', 'red', ({ result }: PastDeploy) => result === 'failed' || result === 'rolled_back'],
    ['did not end', 'yellow', ({ result }: PastDeploy) => /^(interrupted|running)$/.test(result)],
    ['end not recorded', 'yellow', ({ result }: PastDeploy) => result === 'unknown'],
  ] as const;
  return groups
    .map(([name, colour, is]) => ({ name, colour, count: deploys.filter(is).length }))
    .filter(({ count }) => count > 0);
}

type Outcomes = ReturnType<typeof outcomesOf>;

function inWords(outcomes: Outcomes): string {
  return outcomes.map(({ name, count }) => `${count} ${name}`).join(', ');
}

/** The part of each result, the largest what the others leave; without colours they would look alike. */
function bar(outcomes: Outcomes, most: number, style: Style): string {
  if (style.green('') === style.red('')) return '';
  const total = outcomes.reduce((sum, { count }) => sum + count, 0);
  const largest = outcomes.toSorted((one, other) => other.count - one.count)[0];
  const others = outcomes.filter((each) => each !== largest);
  const lengthOf = (count: number) => Math.max(1, Math.round((count / total) * most));
  const left = most - others.reduce((sum, { count }) => sum + lengthOf(count), 0);
  return outcomes
    .map((each) => style[each.colour]('█'.repeat(each === largest ? left : lengthOf(each.count))))
    .join('');
}
