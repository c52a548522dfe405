/** Reads on from a candidate's line and says which of the following lines belong to it. */
import { classify, type Match } from '../line/classify.ts';
import { marks } from '../line/marks.ts';
import type { Candidate, Row } from '../line/row.ts';
import { readLabels } from '../line/severity.ts';
import type { ErrorClass } from '../rules/rule.ts';

/** A line to show. 0: must stand there, 1: helps when there is room, 2: only if there is plenty. */
export interface Pick {
  readonly row: Row;
  readonly need: 0 | 1 | 2;
}

/** Rows of each sort that one block takes. */
const MOST = { detail: 6, code: 3, text: 4, place: 2, field: 4 } as const;
type Sort = keyof typeof MOST;

/** What becomes of a line: it ends the block, is passed over, or is shown. */
type Decision = 'stop' | 'skip' | { readonly sort: Sort; readonly need: Pick['need'] };

interface Reading {
  readonly candidate: Candidate;
  /** A failing test: everything to the next test may be what it expected. */
  readonly test: boolean;
  /** A crash prints its stack after other lines; a compiler's next message is another error. */
  readonly dies: boolean;
  /** The line before was the middle of a sentence. */
  wraps: boolean;
  /** The line before cannot be the end of what it says. */
  open: boolean;
  /** A list follows, until the next blank line. */
  listing: boolean;
  frames: boolean;
  code: boolean;
  /** No place yet. */
  placeless: boolean;
  /** No blank line yet. */
  joined: boolean;
  readonly taken: Record<Sort, number>;
}

/** What stands before a stack trace. */
const DIES: ReadonlySet<ErrorClass> = new Set(['exception', 'crash']);
const EXCEPTION = /^(?:[\w$]{1,80}[.:\\]{1,2}){0,12}[A-Z]\w{0,80}(?:Error|Exception)\b/;

/** A count of what is listed below. */
const COUNTED = /\b\d{1,4} (?:validation )?(?:errors?|problems?|issues?|violations?)\b.{0,80}$/;

/** The lines after the candidate's own that belong to it. */
export function following(candidate: Candidate): Pick[] {
  const { row: head, rule, around } = candidate;
  const test = rule.class === 'test' || around.test !== undefined;
  const open = isOpen(head.trimmed) || COUNTED.test(head.trimmed);
  const reading: Reading = {
    candidate,
    test,
    dies: test || DIES.has(rule.class) || EXCEPTION.test(head.trimmed),
    wraps: false,
    open,
    listing: open,
    frames: false,
    code: false,
    joined: true,
    placeless: !namesPlace(head.trimmed),
    taken: { detail: 0, code: 0, text: 0, place: 0, field: 0 },
  };
  const picks: Pick[] = [];
  for (const [index, row] of candidate.after.entries()) {
    reading.joined &&= !row.gap;
    const decision =
      outside(row, reading) ?? knownForm(row, reading) ?? words(row, reading, index === 0);
    if (decision === 'stop') {
      // What make was making says where the command stood.
      if (!/\.\w{1,8}[:(]\d/.test(candidate.row.trimmed) && /\*\*\* \[/.test(row.trimmed))
        picks.push({ row, need: 1 });
      break;
    }
    if (decision === 'skip') continue;
    reading.taken[decision.sort] += 1;
    if (reading.taken[decision.sort] <= MOST[decision.sort])
      picks.push({ row, need: decision.need });
  }
  return picks;
}

/** Lines that certainly belong to something else. */
function outside(row: Row, { candidate, test }: Reading): Decision | null {
  const { trimmed } = row;
  const head = candidate.row;
  const deeper = row.indent > head.indent;
  if (/^For (?:further|more) information/.test(trimmed)) return 'skip';
  if (marks.isPassing(trimmed) || (marks.isStep(trimmed) && !deeper)) return 'stop';
  if ((marks.isEcho(trimmed) || marks.isTable(trimmed)) && !test) return 'stop';
  if (marks.isSummary(trimmed)) return 'skip';
  if (marks.isAftermath(trimmed) && !deeper) return 'stop';
  if (!deeper && !marks.isDetail(trimmed)) {
    if (marks.isAdvice(trimmed) || readLabels(trimmed).severity === 'info') return 'stop';
  }
  // `npm error` stands before its advice as well.
  const quoted = head.whole !== head.trimmed;
  return quoted && classify(row.whole)?.rule.use === 'wrapper' ? 'skip' : null;
}

/** Lines that their form alone explains: causes, fields, stack frames, code, places. */
function knownForm(row: Row, reading: Reading): Decision | null {
  const { trimmed } = row;
  const { taken } = reading;
  if (/^Caused by:$/i.test(trimmed)) {
    reading.open = true;
    reading.listing = true;
    return { sort: 'text', need: 0 };
  }
  // SQLAlchemy leaves a blank line before the statement.
  if (/^\[SQL: /.test(trimmed)) return { sort: 'detail', need: 0 };
  // TAP: where the test stands.
  if (/^# {1,8}at \S{1,200} line \d+\.?$/.test(trimmed)) return { sort: 'place', need: 0 };
  if (trimmed.startsWith('>>> ')) return { sort: 'detail', need: 0 };
  if (marks.isField(trimmed)) {
    return {
      sort: 'field',
      need: /^(?:expected|actual|left|right|got|want|received|location|file|path)/i.test(trimmed)
        ? 0
        : 2,
    };
  }
  if (marks.isCause(trimmed)) return 'skip';
  if (marks.isFrame(trimmed)) {
    reading.frames = true;
    return marks.isForeign(trimmed) ? 'skip' : { sort: 'place', need: taken.place === 0 ? 0 : 2 };
  }
  const labelled = reading.code && POINTED.exec(trimmed)?.[1];
  if (labelled && taken.detail === 0) return { sort: 'detail', need: 0 };
  const numbered = taken.place > 0 && /^\d{1,6}: \S/.test(trimmed);
  if (numbered || marks.isCode(trimmed)) {
    reading.code = true;
    if (/^[|│╷╵]?$/.test(trimmed)) return 'skip';
    return { sort: 'code', need: /^> ?\d{1,6} ?[|│]/.test(trimmed) ? 0 : 1 };
  }
  if (marks.isPlace(trimmed)) return { sort: 'place', need: taken.place === 0 ? 0 : 1 };
  return null;
}

/** Lines of words: more of the message, or another matter. */
function words(row: Row, reading: Reading, next: boolean): Decision {
  const { candidate, test, dies, open, listing, frames } = reading;
  const { trimmed, gap } = row;
  const head = candidate.row;
  const deeper = row.indent > head.indent;
  const inQuote = head.whole !== head.trimmed && row.whole !== trimmed;
  const announced = candidate.around.announcer?.trimmed.endsWith(':') === true;
  const match = classify(trimmed);
  // Some tools explain in a sentence under the place.
  const explains =
    reading.code && gap && reading.taken.text === 0 && /^[A-Z].*[\w"'`)][.,?!]$/.test(trimmed);
  if (explains && match?.rule.use !== 'wrapper') return { sort: 'text', need: 1 };
  const sibling = (listing || announced) && !gap && (match === null || match.score < 80);
  const near = deeper || open;
  if (match !== null && isOther(match, reading, deeper)) return 'stop';
  if (reading.placeless && namesPlace(trimmed) && (match === null || match.rule.weak)) {
    reading.placeless = false;
    return { sort: 'place', need: 1 };
  }
  const wraps = (next || reading.wraps) && !gap && /^[a-zäöü(]|^[A-Z_]{4,40} \d/.test(trimmed);
  reading.wraps = wraps && !/[.!?:]$/.test(trimmed);
  if (match !== null && !near && !test && !sibling && !inQuote) {
    // A line that only sounds like a failure may be more of what is said.
    const another = !match.rule.weak || readLabels(trimmed).severity === 'error';
    if (another || !reading.joined || frames) return dies ? 'skip' : 'stop';
    return { sort: 'text', need: wraps ? 0 : dies ? 1 : 2 };
  }
  if (match !== null && match.score >= 80 && (test || near)) {
    reading.open = isOpen(trimmed);
    return { sort: 'detail', need: reading.taken.detail < 2 ? 0 : 1 };
  }
  if (marks.isDetail(trimmed) && (deeper || test || inQuote || !gap)) {
    return { sort: 'detail', need: frames ? 1 : 0 };
  }
  if (gap && !near && !dies && !inQuote) return 'stop';
  if (marks.isProgress(trimmed) && !near) return 'stop';
  if ((frames || (gap && !near && !inQuote)) && !test) return 'skip';
  const helps =
    deeper ||
    test ||
    reading.code ||
    inQuote ||
    (announced && sibling) ||
    match?.rule.use === 'cause';
  reading.listing &&= next || !gap;
  reading.open = isOpen(trimmed) && reading.taken.text < 1;
  return { sort: 'text', need: open || wraps || (listing && !gap) ? 0 : helps ? 1 : 2 };
}

/** Whether the match begins another message than the candidate's. */
function isOther(match: Match, { candidate, open }: Reading, deeper: boolean): boolean {
  if (match.rule.use === 'wrapper') return !deeper;
  return match.rule.use === 'test' && !open && (match.rule === candidate.rule || !deeper);
}

/** A message inside a code frame, below the mark: Scala. */
const POINTED = /^[|│] {2,200}([A-Z][\w'`" ].{2,300})$/;

/** Whether a sentence names a place in the source. */
function namesPlace(text: string): boolean {
  return /\bline \d|[\w)]\.\w{1,8}:\d|^(?:in|at|file|from):? \S*[./]\w/i.test(text);
}

/** Whether the line cannot be the end of what it says. */
function isOpen(text: string): boolean {
  return /[:,({[]$|\b(?:is|are|the|a|of|to|by|because|from|in|and|or|that)$/.test(text);
}
