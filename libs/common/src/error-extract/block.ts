/** Chooses, from the lines around a candidate, those that a person needs with it. */
import { classify } from './classify.ts';
import { marks } from './marks.ts';
import type { Candidate, Row } from './row.ts';
import { readLabels } from './severity.ts';

/** A line to show. 0: must stand there, 1: helps when there is room, 2: only if there is plenty. */
export interface Pick {
  readonly row: Row;
  readonly need: 0 | 1 | 2;
}

/** Rows of each sort that one block takes. */
const MOST = { detail: 6, code: 3, text: 4, place: 2, field: 4 } as const;

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
  if (rule.use === 'wrapper') for (const row of candidate.before.slice(-4)) add(row, 1);
  const chain = around.chain ?? [];
  for (const row of chain.slice(0, 1)) add(row, 0);
  for (const row of chain.slice(1)) add(row, 1);
  add(around.frame, 0);
  if (rule.use !== 'wrapper') {
    for (const pick of following(candidate)) add(pick.row, pick.need);
    const deepest = candidate.causes.at(-1);
    add(deepest, 0);
    for (const row of candidate.causes) add(row, 1);
    if (rule.use !== 'test') {
      add(around.test, 0);
      for (const row of restOfName(candidate)) add(row, 1);
    }
    if (around.file !== undefined && /^\d+:\d+/.test(candidate.row.trimmed)) add(around.file, 0);
    if (needsWhere(candidate)) add(around.step, 1);
  }
  return picks;
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
  for (const row of candidate.before.toReversed()) {
    const { trimmed } = row;
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

function following(candidate: Candidate): Pick[] {
  const { row: head, after, rule, around } = candidate;
  const test = rule.class === 'test' || around.test !== undefined;
  // What dies prints its stack after whatever else it says; a compiler's next message is another.
  const dies = test || rule.class === 'exception' || rule.class === 'crash';
  const picks: Pick[] = [];
  const taken = { detail: 0, code: 0, text: 0, place: 0, field: 0 };
  const take = (sort: keyof typeof taken, row: Row, need: Pick['need']): void => {
    taken[sort] += 1;
    if (taken[sort] <= MOST[sort]) picks.push({ row, need });
  };
  let open = isOpen(head.trimmed);
  let listing = open;
  const announced = around.announcer?.trimmed.endsWith(':') === true;
  const quoted = head.whole !== head.trimmed;
  let frames = false;
  let code = false;
  for (const [index, row] of after.entries()) {
    const { trimmed } = row;
    const deeper = row.indent > head.indent;
    if (marks.isPassing(trimmed) || marks.isStep(trimmed)) break;
    if (marks.isEcho(trimmed) && !test) break;
    if (marks.isSummary(trimmed)) continue;
    if (marks.isAdvice(trimmed) && !deeper && !marks.isDetail(trimmed)) break;
    if (!deeper && !marks.isDetail(trimmed) && readLabels(trimmed).severity === 'info') break;
    if (quoted && classify(row.whole)?.rule.use === 'wrapper') continue;
    if (marks.isField(trimmed)) {
      take('field', row, /^(?:expected|actual|location|file|path)/i.test(trimmed) ? 0 : 2);
      continue;
    }
    if (marks.isAftermath(trimmed) && row.indent <= head.indent) break;
    if (marks.isFrame(trimmed) && !marks.isCause(trimmed)) {
      frames = true;
      if (!marks.isForeign(trimmed)) take('place', row, taken.place === 0 ? 0 : 2);
      continue;
    }
    if (marks.isCause(trimmed)) continue;
    if (marks.isCode(trimmed)) {
      if (!/^[|│╷╵]?$/.test(trimmed)) take('code', row, 1);
      code = true;
      continue;
    }
    if (marks.isPlace(trimmed)) {
      take('place', row, taken.place === 0 ? 0 : 1);
      continue;
    }
    const match = classify(trimmed);
    if (match?.rule.use === 'wrapper' && !deeper) break;
    if (match?.rule.use === 'test' && (match.rule === rule || !deeper) && !open) break;
    const sibling = (listing || announced) && !row.gap && (match === null || match.score < 80);
    if (match !== null && !deeper && !open && !test && !sibling) {
      if (dies) continue;
      break;
    }
    if (match !== null && match.score >= 80 && (test || open || deeper)) {
      take('detail', row, 0);
      open = isOpen(trimmed);
      continue;
    }
    if (marks.isDetail(trimmed) && (deeper || test || quoted || !row.gap)) {
      take('detail', row, frames ? 1 : 0);
      continue;
    }
    if (row.gap && !deeper && !open && !dies && !quoted) break;
    if (marks.isProgress(trimmed) && !deeper && !open) break;
    if (frames && !test) continue;
    if (row.gap && !deeper && !open && !test) continue;
    const wraps = index === 0 && !row.gap && /^[a-zäöü(]/.test(trimmed);
    const useful =
      deeper ||
      test ||
      code ||
      (announced && sibling) ||
      (match !== null && match.rule.use === 'cause');
    take('text', row, open || wraps || (listing && !row.gap) ? 0 : useful ? 1 : 2);
    listing &&= index === 0 || !row.gap;
    open = isOpen(trimmed) && taken.text < 2;
  }
  return picks;
}

/** A line that cannot be the end of what it says. */
function isOpen(text: string): boolean {
  return /[:,({[]$|\b(?:is|are|the|a|of|to|by|because|from|in|and|or|that)$/.test(text);
}
