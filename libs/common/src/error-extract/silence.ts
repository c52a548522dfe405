/** What to say when the log does not say why: how the step ended, and its last rare lines. */
import { codePoints, cutCodePoints } from '../text.ts';
import type { Collected } from './collect.ts';
import { marks } from './marks.ts';
import type { Row } from './row.ts';
import type { ErrorClass } from './rule.ts';
import { lineShape } from './shape.ts';

/** How the step that wrote the log ended. */
export interface Ending {
  /** The step's name, as the runner calls it. */
  readonly step?: string;
  readonly command?: string;
  readonly exit?: {
    readonly code?: number;
    readonly signal?: string;
    readonly timedOut?: boolean;
    readonly oom?: boolean;
  };
}

/** An ending in words. `grave`: it is itself the cause, whatever the log says. */
export interface Told {
  readonly words: string;
  readonly grave: boolean;
  readonly class: ErrorClass;
}

/** Exit statuses that a shell gives for a signal begin above this. */
const SIGNALLED = 128;
const SIGNALS: Readonly<Record<number, string>> = {
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
};

/** The ending in words; null when nothing is known of it, or when it ended well. */
export function silence({ step, command, exit }: Ending): Told | null {
  const who = [step === undefined ? '' : `step ${step}`, command === undefined ? '' : `(${command})`];
  const subject = who.filter((part) => part !== '').join(' ') || 'the command';
  if (exit?.timedOut === true) {
    return { words: `${subject} ran into its time limit and was stopped`, grave: true, class: 'timeout' };
  }
  const code = exit?.code;
  const signal =
    exit?.signal ?? (code !== undefined && code > SIGNALLED ? SIGNALS[code - SIGNALLED] : undefined);
  if (exit?.oom === true) {
    return { words: `${subject} was killed: out of memory`, grave: true, class: 'memory' };
  }
  if (signal !== undefined) {
    const hint = signal === 'SIGKILL' ? ', perhaps for lack of memory' : '';
    return { words: `${subject} was killed by ${signal}${hint}`, grave: true, class: 'killed' };
  }
  if (code === 127) return { words: `${subject}: command not found (exit status 127)`, grave: false, class: 'command' };
  if (code === 126) return { words: `${subject}: not executable (exit status 126)`, grave: false, class: 'command' };
  if (code !== undefined && code !== 0) {
    return { words: `${subject} ended with exit status ${code}`, grave: false, class: 'exit' };
  }
  return null;
}

/** Lines shown when no rule matched. */
const SHOWN = 4;
const LINE = 240;

/** The last rare, meaningful lines before any clean-up, and how the step ended. */
export function lastWords(
  { rare, counts, lastRow }: Collected,
  told: Told | null,
  baseline: ReadonlySet<string>,
  max: number,
): { text: string; lines: number[]; class: ErrorClass; rule: null } {
  const early = rare.filter(({ aftermath }) => !aftermath).map(({ row }) => row);
  const pool = early.length > 0 ? early : rare.map(({ row }) => row);
  const worth = pool.filter(
    ({ trimmed }) =>
      counts.of(trimmed) <= 2 &&
      !marks.isPassing(trimmed) &&
      !marks.isEcho(trimmed) &&
      !baseline.has(lineShape(trimmed)) &&
      /\p{L}{2}/u.test(trimmed),
  );
  const rows = (worth.length > 0 ? worth : pool).slice(-SHOWN);
  if (rows.length === 0 && lastRow !== null) rows.push(lastRow);
  const shown: { row: Row | null; text: string }[] = rows
    .toReversed()
    .map((row) => ({ row, text: cutCodePoints(row.text.replaceAll('\t', '  '), LINE) }));
  if (told !== null) {
    const words = { row: null, text: cutCodePoints(told.words, LINE) };
    if (told.grave) shown.unshift(words);
    else shown.splice(1, 0, words);
  }
  const kept: typeof shown = [];
  let used = 0;
  for (const one of shown) {
    used += codePoints(one.text) + 1;
    if (kept.length > 0 && used > Math.max(LINE, max * 0.5)) break;
    kept.push(one);
  }
  const [first, ...rest] = kept;
  const ordered = first === undefined ? [] : [first, ...rest.toSorted((a, b) => place(a.row) - place(b.row))];
  return {
    text: cutCodePoints(ordered.map(({ text }) => text).join('\n'), max),
    lines: kept.flatMap(({ row }) => (row === null ? [] : [row.line])).toSorted((a, b) => a - b),
    class: told?.class ?? 'silent',
    rule: null,
  };
}

/** Words about the ending come after the lines of the log. */
function place(row: Row | null): number {
  return row?.line ?? Number.POSITIVE_INFINITY;
}
