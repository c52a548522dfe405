/** What is shown of a log that does not say why it failed: its last rare lines. */
import { codePoints, cutCodePoints } from '@runner/common/text/plain';
import type { Collected } from '../collect/collect.ts';
import { classify } from '../line/classify.ts';
import { marks } from '../line/marks.ts';
import type { Row } from '../line/row.ts';
import type { Baseline } from './baseline.ts';
import { type Composed, type Show, tidy } from './compose.ts';
import type { Ranked } from './ranked.ts';

/** Lines shown, and code points of one. */
const SHOWN = 4;
const LINE = 240;
/** Share of the limit that they may take together. */
const ROOM = 0.5;
/** A line whose shape the log has this often at most is rare. */
const RARE = 2;

/**
 * The last rare and meaningful lines before any clean-up, in the log's order; where there is room for
 * few, the very last one, because a program that gives up says so at its end. `wrapper` is the line
 * that only passes the failure on.
 */
export function lastWords(
  collected: Collected,
  wrapper: Ranked | undefined,
  baseline: Baseline,
  max: number,
  show: Show,
): Composed {
  const [first, ...others] = lastRows(collected, wrapper?.candidate.row, baseline);
  const passing = wrapper === undefined ? [] : [wrapper.candidate.row];
  const telling = wrapper === undefined ? others.filter((row) => !isDoing(row.trimmed)) : others;
  const rows = [...(first === undefined ? [] : [first]), ...passing, ...telling];
  const kept: { row: Row; text: string }[] = [];
  let used = 0;
  for (const row of rows) {
    const text = cutCodePoints(tidy(show(row)), Math.min(LINE, max));
    used += codePoints(text) + 1;
    if (kept.length > 0 && (kept.length === SHOWN || used > max * ROOM)) break;
    kept.push({ row, text });
  }
  const ascending = kept.toSorted((a, b) => a.row.line - b.row.line);
  const [head] = kept;
  const shown =
    wrapper === undefined || head === undefined
      ? ascending
      : [head, ...ascending.filter((each) => each !== head)];
  return {
    text: shown.map(({ text }) => text).join('\n'),
    lines: [...new Set(ascending.map(({ row }) => row.at))],
  };
}

/** Whether a line only reports progress: of no use above the last one. */
function isDoing(trimmed: string): boolean {
  return (
    marks.isProgress(trimmed) ||
    marks.isStep(trimmed) ||
    marks.isAdvice(trimmed) ||
    DOING.test(trimmed)
  );
}

/** A number of steps, one word, a verb's form in -ing, or dots behind. */
const DOING = /^\[\d+\/\d+\] |^\S+$|^\p{L}{2,20}ing\b|(?:\.{3}|…)$/u;

/** Whether the log has a meaningful rare line that good builds do not print. */
export function hasNews(
  collected: Collected,
  wrapper: Ranked | undefined,
  baseline: Baseline,
): boolean {
  return worthwhile(collected, wrapper?.candidate.row, baseline).worth.length > 0;
}

/**
 * The rows that may tell something, the last one first: without a meaningful one those that are only
 * rare, and in a log whose lines are all of few kinds its last ones.
 */
function lastRows(collected: Collected, wrapper: Row | undefined, baseline: Baseline): Row[] {
  const { pool, worth } = worthwhile(collected, wrapper, baseline);
  if (worth.length > 0 || wrapper !== undefined) return worth.toReversed();
  const rare = pool.filter(({ shape }) => shape.seen <= RARE);
  return (rare.length > 0 ? rare : collected.lastRows).toReversed();
}

/** Rare rows before any clean-up, and those among them that tell something new. */
function worthwhile(
  { rare }: Collected,
  wrapper: Row | undefined,
  baseline: Baseline,
): { pool: Row[]; worth: Row[] } {
  const before = rare.filter(({ row }) => wrapper === undefined || row.line < wrapper.line);
  const early = before.filter(({ aftermath }) => !aftermath);
  const pool = (early.length > 0 ? early : before).map(({ row }) => row);
  const worth = pool.filter(
    ({ text, whole, level, trimmed, shape }) =>
      shape.seen <= RARE &&
      !marks.isPassing(trimmed) &&
      !marks.isEcho(trimmed) &&
      !/^(?:> \S|Traceback \()/.test(trimmed) &&
      !marks.isSummary(trimmed) &&
      !baseline(text) &&
      classify(whole, level)?.rule.use !== 'wrapper' &&
      /\p{L}{2}/u.test(trimmed),
  );
  return { pool, worth };
}
