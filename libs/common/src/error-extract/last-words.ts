/** What is shown of a log that does not say why it failed: its last rare lines. */
import { codePoints, cutCodePoints } from '../text.ts';
import type { Baseline } from './baseline.ts';
import type { Ranked } from './choose.ts';
import { classify } from './classify.ts';
import type { Collected } from './collect.ts';
import { type Composed, shownText, tidy } from './compose.ts';
import { marks } from './marks.ts';
import type { Row } from './row.ts';

/** Lines shown, and code points of one. */
const SHOWN = 4;
const LINE = 240;
/** Share of the limit that they may take together. */
const ROOM = 0.5;
/** A line whose shape the log has this often at most is rare. */
const RARE = 2;

/**
 * The last rare and meaningful lines before any clean-up, the very last one first, because a program
 * that gives up says so at its end. `wrapper` is the line that only passes the failure on.
 */
export function lastWords(
  collected: Collected,
  wrapper: Ranked | undefined,
  baseline: Baseline,
  max: number,
  redact: (text: string) => string,
): Composed {
  const [first, ...others] = lastRows(collected, wrapper?.candidate.row, baseline);
  const passing = wrapper === undefined ? [] : [wrapper.candidate.row];
  const rows = [...(first === undefined ? [] : [first]), ...passing, ...others];
  const kept: { row: Row; text: string }[] = [];
  let used = 0;
  for (const row of rows) {
    const text = cutCodePoints(tidy(redact(shownText(row))), Math.min(LINE, max));
    used += codePoints(text) + 1;
    if (kept.length > 0 && (kept.length === SHOWN || used > max * ROOM)) break;
    kept.push({ row, text });
  }
  const [head, ...rest] = kept;
  const ordered =
    head === undefined ? [] : [head, ...rest.toSorted((a, b) => a.row.line - b.row.line)];
  return {
    text: ordered.map(({ text }) => text).join('\n'),
    lines: kept.map(({ row }) => row.line).toSorted((a, b) => a - b),
  };
}

/** Whether the log has a rare line that tells something and that good builds do not print. */
export function hasNews(
  collected: Collected,
  wrapper: Ranked | undefined,
  baseline: Baseline,
): boolean {
  return worthwhile(collected, wrapper?.candidate.row, baseline).worth.length > 0;
}

/** The rows that may tell something, the last one first. */
function lastRows(collected: Collected, wrapper: Row | undefined, baseline: Baseline): Row[] {
  const { pool, worth } = worthwhile(collected, wrapper, baseline);
  const { lastRow } = collected;
  const rows = worth.length > 0 || wrapper !== undefined ? worth : pool;
  if (rows.length === 0 && wrapper === undefined && lastRow !== null) return [lastRow];
  return rows.toReversed();
}

/** Rare rows before any clean-up, and those among them that tell something new. */
function worthwhile(
  { rare, counts }: Collected,
  wrapper: Row | undefined,
  baseline: Baseline,
): { pool: Row[]; worth: Row[] } {
  const before = rare.filter(({ row }) => wrapper === undefined || row.line < wrapper.line);
  const early = before.filter(({ aftermath }) => !aftermath);
  const pool = (early.length > 0 ? early : before).map(({ row }) => row);
  const worth = pool.filter(
    ({ text, whole, trimmed, key }) =>
      counts.of(key) <= RARE &&
      !marks.isPassing(trimmed) &&
      !marks.isEcho(trimmed) &&
      !marks.isSummary(trimmed) &&
      !baseline(text) &&
      classify(whole)?.rule.use !== 'wrapper' &&
      /\p{L}{2}/u.test(trimmed),
  );
  return { pool, worth };
}
