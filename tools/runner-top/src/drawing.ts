/** The lines of the screen. Every text from outside is made harmless, and cut to the width. */
import { type AppSummary, needsAttention } from '@runner/common/apps/summary';
import { cells, fit, pad, type Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { type HistoryRow, versionOfRow } from '@runner/history/deploys/deploy';
import {
  countWords,
  factsOf,
  minuteOf,
  reasonWords,
  versionWords,
} from '@runner/history/now/facts';
import type { Snapshot } from '@runner/history/now/snapshot';

/** What is on the screen. */
export type TopPage = 'apps' | 'app' | 'log' | 'help';

/** All that the lines depend on. */
export interface DrawnTop {
  readonly server: string;
  readonly now: Snapshot;
  readonly page: TopPage;
  /** The app that is chosen; undefined: there is none. */
  readonly app: AppSummary | undefined;
  /** The end of the log of its running or last deploy. */
  readonly log: readonly string[];
  /** In words, why it cannot be read. */
  readonly history: readonly HistoryRow[] | string;
  /** A question, or what went wrong. */
  readonly message: string | undefined;
}

/** A place to draw: in character cells. */
export interface Area {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
}

const HEADING = ['APP', 'STATE', 'VERSION', 'WHY, OR WHAT IS NEXT'];
/** Widest columns before the last one. */
const WIDEST = [24, 11, 22];

export const HELP = [
  'up, down, k, j   choose an app; Page Up, Page Down, Home, End too',
  'Enter            what there is to know of it, its newest deploys and the log',
  'l                the log of its running or last deploy, as it grows',
  'd                deploy its newest commit',
  'b                roll it back to the version before',
  'r                restart it',
  'Esc              back to the apps',
  'q, Ctrl-C        quit',
  '',
  'd, b and r ask first, then run the command on this terminal.',
] as const;

const KEYS = 'up/down  Enter details  l log  d deploy  b rollback  r restart  ? help  q quit';

function colourOf(app: AppSummary, style: Style): (text: string) => string {
  if (app.state === 'deploying') return style.cyan;
  if (needsAttention(app)) return style.red;
  return app.state === 'ok' ? style.green : style.yellow;
}

/** What the first line says. */
function titleOf({ server, now }: DrawnTop): string {
  const { queue, unreadable } = now;
  const dead = queue && queue.dead > 0 ? `, ${queue.dead} given up` : '';
  const messages = queue ? `; messages waiting: ${queue.waiting}${dead}` : '';
  const unread = unreadable.length > 0 ? `; cannot read the state of ${unreadable.join(', ')}` : '';
  return harmlessLine(`runner on ${server}: ${countWords(now)}${unread}${messages}`);
}

/** A row of the table; `widths` are of all columns but the last. */
function rowOf(parts: readonly string[], widths: readonly number[]): string {
  const shown = parts.map((part, index) => {
    const width = widths[index];
    const text = harmlessLine(part);
    return width === undefined ? text : pad(fit(text, width), width);
  });
  return shown.join('  ');
}

/** The table of apps in at most `rows` lines, scrolled so that the chosen one is seen. */
export function tableOf({ now, app: chosen }: DrawnTop, { columns, rows, style }: Area): string[] {
  const all = now.apps.map((app) => [app.app, app.state, versionWords(app), reasonWords(app)]);
  const widths = WIDEST.map((widest, column) =>
    Math.min(widest, Math.max(...[HEADING, ...all].map((row) => cells(row[column] ?? '')))),
  );
  const first = scrolled(
    now.apps.findIndex(({ app }) => app === chosen?.app),
    all.length,
    rows - 1,
  );
  const start = 2 + (widths[0] ?? 0) + 2;
  const lines = now.apps.slice(first, first + rows - 1).map((app, index) => {
    const mark = app.app === chosen?.app ? '> ' : '  ';
    const line = fit(mark + rowOf(all[first + index] ?? [], widths), columns);
    // Names of apps are ASCII: cells are characters up to the state.
    const state = line.slice(start, start + app.state.length);
    const shown =
      line.slice(0, start) + colourOf(app, style)(state) + line.slice(start + state.length);
    return app.app === chosen?.app ? style.bold(shown) : shown;
  });
  return [style.bold(fit(`  ${rowOf(HEADING, widths)}`, columns)), ...lines];
}

/** The first visible row: the chosen one is in the middle, if there are rows on both sides. */
function scrolled(chosen: number, count: number, rows: number): number {
  return Math.max(0, Math.min(chosen - Math.floor(rows / 2), count - rows));
}

/** What there is to say of an app. */
function paneOf(drawn: DrawnTop, { columns, rows, style }: Area): string[] {
  const { app, log, page, history } = drawn;
  if (!app || rows < 2) return [];
  const facts = page === 'log' ? [] : factsOf(app);
  const width = Math.min(18, Math.max(0, ...facts.map(([label]) => cells(label))));
  const lines = facts.map(([label, text]) => rowOf([label, text], [width]));
  const past = page === 'app' ? pastOf(history) : [];
  if (past.length > 0) lines.push('', ...past);
  const heading = `-- ${app.app} ${'-'.repeat(columns)}`;
  // The log gets what is left, and of a running deploy at least half.
  const least = app.deploying || page === 'log' ? Math.ceil((rows - 1) / 2) : 0;
  const kept = lines.slice(0, rows - 1 - Math.min(least, log.length));
  const room = rows - 1 - kept.length - (kept.length > 0 ? 1 : 0);
  const tail = room > 0 ? log.slice(-room).map(harmlessLine) : [];
  const between = kept.length > 0 && tail.length > 0 ? [''] : [];
  const cut = (line: string) => fit(line, columns);
  return [
    style.dim(heading.slice(0, columns)),
    ...[...kept, ...between].map(cut),
    ...tail.map((line) => style.dim(cut(line))),
  ];
}

function pastOf(history: DrawnTop['history']): string[] {
  return typeof history === 'string' ? [harmlessLine(history)] : history.map(pastLine);
}

function pastLine(row: HistoryRow): string {
  const { timestamp, result, user, trigger, cause, subject } = row;
  const why = cause?.split('\n')[0] || subject || '';
  const parts = [minuteOf(timestamp), result, versionOfRow(row), user ?? trigger ?? '-', why];
  return rowOf(parts, [16, 11, 22, 10]);
}

/** The whole screen, as many lines as it has rows. */
export function screenOf(drawn: DrawnTop, { columns, rows, style }: Area): string[] {
  const { page, now, message } = drawn;
  const middle = rows - 2;
  const area = (height: number) => ({ columns, rows: height, style });
  const body = () => {
    if (page === 'help') return HELP.map((line) => fit(line, columns));
    const isNew = now.apps.length + now.unreadable.length === 0;
    if (isNew) return ['No apps yet. Register one with: runner add <owner/name>'];
    if (page !== 'apps') return paneOf(drawn, area(middle));
    // The table gets up to two thirds.
    const table = tableOf(drawn, area(Math.min(now.apps.length + 1, Math.ceil((middle * 2) / 3))));
    return [...table, ...paneOf(drawn, area(middle - table.length))];
  };
  const lines = [style.bold(fit(titleOf(drawn), columns)), ...body()].slice(0, rows - 1);
  while (lines.length < rows - 1) lines.push('');
  const last = fit(harmlessLine(message ?? KEYS), columns);
  return [...lines, message ? style.bold(last) : style.dim(last)];
}

/** For `--once`: all apps, without keys. */
export function onceText(drawn: DrawnTop, columns: number, style: Style): string {
  const rows = drawn.now.apps.length + 1;
  const lines = [
    style.bold(fit(titleOf(drawn), columns)),
    ...tableOf(drawn, { columns, rows, style }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** For `--plain`: an app in one line. */
export function plainLine(app: AppSummary): string {
  return harmlessLine(`${app.app}: ${app.state}, ${versionWords(app)}; ${reasonWords(app)}`);
}
