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
/** Days of a sparkline, and cells of the bar of outcomes. */
const COLUMNS = 40;
const LEVELS = '▁▂▃▄▅▆▇█';

export function statsText(source: StatsSource, style: Style, isTerminal: boolean): string {
  const { history, period, app } = source;
  const figures = figuresOf(history, period);
  const { lead_time_s: lead, time_to_restore_s: restore, duration_ms: took } = figures;
  const deploys = history.filter((deploy) => !deploy.byHand && isIn(period, deploy));
  const outcomes = outcomesOf(deploys);
  const isDrawn = isTerminal && deploys.length > 0;
  const drawn = (label: string, draw: () => string): [string, string][] => {
    const line = isDrawn ? draw() : '';
    return line === '' ? [] : [[label, line]];
  };
  const rows: [string, string][] = [
    ['deploys:', `${figures.deploys}, ${number(figures.per_day)} a day`],
    ...drawn('over time:', () => sparkline(countsOf(deploys, period))),
    ...(outcomes.length > 0 ? [['outcomes:', inWords(outcomes)] as [string, string]] : []),
    ...drawn('', () => bar(outcomes, deploys.length, style)),
    ['changes:', `${figures.changes}${failures(figures)}`],
    ['lead time:', pair(seconds(lead.p50), 'p90', seconds(lead.p90))],
    ['time to restore:', pair(seconds(restore.p50), 'p90', seconds(restore.p90))],
    ['duration:', pair(durationText(took.p50), 'p95', durationText(took.p95))],
    ...drawn('over time:', () => sparkline(mediansOf(deploys, period))),
    ...steps(figures).map((line, index): [string, string] => [index ? '' : 'slowest steps:', line]),
  ];
  // Of a short period a date alone says too little.
  const isShort = period.until - period.since < 2 * DAY;
  const since = figures.since.slice(0, isShort ? 16 : 10).replace('T', ' ');
  const heading = `${app ?? 'All apps'} since ${since}`;
  return `${style.bold(harmlessLine(heading))}\n${fields(rows)}`;
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
function columnsOf(deploys: readonly PastDeploy[], { since, until }: Period): PastDeploy[][] {
  const count = Math.min(COLUMNS, Math.max(1, Math.ceil((until - since) / DAY)));
  const columns = Array.from({ length: count }, (): PastDeploy[] => []);
  for (const deploy of deploys)
    columns[Math.floor(((deploy.start - since) / (until - since)) * count)]?.push(deploy);
  return columns;
}

function countsOf(deploys: readonly PastDeploy[], period: Period): number[] {
  return columnsOf(deploys, period).map(({ length }) => length);
}

/** The median duration of each column. */
function mediansOf(deploys: readonly PastDeploy[], period: Period): number[] {
  return columnsOf(deploys, period).map((column) => {
    const took = column.flatMap(({ duration_ms }) => duration_ms ?? []);
    return percentile(took, 50) ?? 0;
  });
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

/** The part of each result; without colours they would look alike. */
function bar(outcomes: Outcomes, total: number, style: Style): string {
  if (style.green('') === style.red('')) return '';
  return outcomes
    .map(({ colour, count }) =>
      style[colour]('█'.repeat(Math.max(1, Math.round((count / total) * COLUMNS)))),
    )
    .join('');
}
