/** Chooses, from the lines around a candidate, those that a person needs with it. */
import { following, type Pick } from './following.ts';
import { marks } from './marks.ts';
import type { Candidate, Row } from './row.ts';

/** The block of a candidate, its own line first. */
export function blockOf(candidate: Candidate): Pick[] {
  const picks: Pick[] = [{ row: candidate.row, need: 0 }];
  const add = (row: Row | undefined, need: Pick['need']): void => {
    if (row !== undefined && !picks.some((pick) => pick.row.line === row.line))
      picks.push({ row, need });
  };
  const { around, rule } = candidate;
  const places = placesBefore(candidate);
  add(around.announcer, hasPlace(around.announcer) ? 0 : 1);
  for (const row of places) add(row, 0);
  const quote = candidate.before.at(-1);
  if (quote?.trimmed.startsWith('>>> ')) add(quote, 0);
  if (rule.use === 'wrapper') for (const row of candidate.before.slice(-4)) add(row, 1);
  const chain = around.chain ?? [];
  for (const row of chain.slice(0, 1)) add(row, 0);
  for (const row of chain.slice(1)) add(row, 1);
  add(around.frame, 0);
  // A line of JSON is whole.
  const whole = candidate.row.whole.startsWith('{"');
  if (rule.use !== 'wrapper' && !whole) {
    for (const pick of following(candidate)) add(pick.row, pick.need);
    const deepest = candidate.causes.at(-1);
    add(deepest, 0);
    for (const row of candidate.causes) add(row, 1);
    if (rule.use !== 'test') {
      if (rule.class === 'test' && around.test === undefined) add(stepBefore(candidate), 1);
      add(around.test, 0);
      for (const row of restOfName(candidate)) add(row, 1);
    }
    if (
      around.file !== undefined &&
      /^(?:(?:##\[\w{1,10}\])?\s*\d+:\d+|[~^-]+ )/.test(candidate.row.trimmed)
    )
      add(around.file, 0);
    if (needsWhere(candidate)) add(around.step, 1);
  }
  return picks;
}

/** The step of a scenario, which stands right above what it expected. */
function stepBefore({ before, row }: Candidate): Row | undefined {
  const step = before.at(-1);
  if (step === undefined || row.gap || row.indent <= step.indent) return undefined;
  return marks.isCode(step.trimmed) || marks.isPassing(step.trimmed) ? undefined : step;
}

/** Some runners print a test's name in several lines, one deeper than the other. */
function restOfName({ around, before, row }: Candidate): Row[] {
  const { test } = around;
  if (test === undefined) return [];
  return before
    .filter(
      (other) => other.line > test.line && other.indent > test.indent && row.line - test.line <= 4,
    )
    .slice(0, 2);
}

function hasPlace(row: Row | undefined): boolean {
  return row !== undefined && /[\w)]\.\w{1,8}\b|:\d+/.test(row.trimmed);
}

/** A relative path says little without the package or folder that it is relative to. */
function needsWhere(candidate: Candidate): boolean {
  return !/(?:^|[\s"'(])\/\w/.test(candidate.row.trimmed);
}

/** The place that some tools print above the message, with code frames in between. */
function placesBefore(candidate: Candidate): Row[] {
  const found: Row[] = [];
  let pointed = false;
  for (const row of candidate.before.toReversed()) {
    const { trimmed } = row;
    // An interpreter prints the place, the line of source, and a mark under it.
    if (pointed && !marks.isPlace(trimmed)) {
      pointed = false;
      continue;
    }
    pointed = /^[~^]+$/.test(trimmed);
    if (
      (marks.isPlace(trimmed) &&
        !/^(?:-+>|└─)/.test(trimmed) &&
        (row.indent <= candidate.row.indent || trimmed.startsWith('File "'))) ||
      /: [Ii]n (?:function|member|constructor|instantiation|Funktion|lambda)/.test(trimmed)
    ) {
      found.push(row);
      break;
    }
    const between = marks.isCode(trimmed) || row.indent > 0 || marks.isFrame(trimmed);
    if (!between || candidate.row.indent > 0) break;
  }
  return found;
}
