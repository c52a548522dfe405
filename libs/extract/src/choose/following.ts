/** Chooses the lines below a candidate that belong to it. */
import { classify, type Match } from '../line/classify.ts';
import { marks } from '../line/marks.ts';
import type { Candidate, Row } from '../line/row.ts';
import { readLabels, severityOfRow } from '../line/severity.ts';
import { type Decision, isOpen, MOST, type Pick, type Reading, startReading } from './reading.ts';

/** The lines below the candidate that belong to it, in order. */
export function following(candidate: Candidate): Pick[] {
  const reading = startReading(candidate);
  const picks: Pick[] = [];
  for (const [index, row] of candidate.after.entries()) {
    reading.joined &&= !row.gap || index === 0;
    const decision =
      outside(row, reading) ?? knownForm(row, reading) ?? words(row, reading, index === 0);
    if (decision === 'stop') break;
    if (decision === 'skip') continue;
    reading.taken[decision.sort] += 1;
    if (reading.taken[decision.sort] <= MOST[decision.sort])
      picks.push({ row, need: decision.need });
  }
  return picks;
}

/** Decides on lines that clearly belong to something else. */
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
  return null;
}

/** Decides on lines recognised by form: causes, fields, stack frames, code, places. */
function knownForm(row: Row, reading: Reading): Decision | null {
  const { trimmed } = row;
  const { taken } = reading;
  // SQLAlchemy leaves a blank line before the statement.
  if (/^\[SQL: /.test(trimmed)) return { sort: 'detail', need: 0 };
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
  if (marks.isCode(trimmed)) {
    reading.code = true;
    if (/^[|│╷╵]?$/.test(trimmed)) return 'skip';
    return { sort: 'code', need: /^> ?\d{1,6} ?[|│]/.test(trimmed) ? 0 : 1 };
  }
  if (marks.isPlace(trimmed)) return { sort: 'place', need: taken.place === 0 ? 0 : 1 };
  return null;
}

/** Decides on prose: more of the message, or something else. */
function words(row: Row, reading: Reading, next: boolean): Decision {
  const { candidate, test, dies, open, listing, frames } = reading;
  const { trimmed, gap } = row;
  const head = candidate.row;
  const deeper = row.indent > head.indent;
  const inQuote = head.whole !== head.trimmed && row.whole !== trimmed;
  const announced = candidate.around.announcer?.trimmed.endsWith(':') === true;
  const match = classify(trimmed, row.level);
  const sibling = (listing || announced) && !gap && (match === null || match.score < 80);
  const near = deeper || open;
  if (match !== null && isOther(match, reading, deeper)) return 'stop';
  const wraps = (next || reading.wraps) && !gap && /^[a-zäöü(]|^[A-Z_]{4,40} \d/.test(trimmed);
  reading.wraps = wraps && !/[.!?:]$/.test(trimmed);
  if (match !== null && !near && !test && !sibling && !inQuote) {
    // A weak match may continue the message.
    const another = !match.rule.weak || severityOfRow(row) === 'error';
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

/** Whether the match begins a different message. */
function isOther(match: Match, { candidate, open }: Reading, deeper: boolean): boolean {
  if (match.rule.use === 'wrapper') return !deeper;
  return match.rule.use === 'test' && !open && (match.rule === candidate.rule || !deeper);
}
