/** Recognises the messages of exceptions by the stack traces around them. */
import { marks } from '../line/marks.ts';
import type { Around, Match, Row } from '../line/row.ts';
import { severityOfRow } from '../line/severity.ts';
import { PYTHON, TRACED } from '../rules/labels.ts';
import { followTraceback, type Stream } from './stream.ts';

/** A message of this score explains a stack trace below it, and takes the causes below it. */
export const SAYS_MORE = 60;

const CHAINED = /^(?:The above exception was the direct|During handling of the above)/;
/** A message after the exception's name. */
const SAYS = /:\s*\S|\s/;
/** Stack traces whose message need not look like one. */
const TRACE_BEGINS =
  /^(?:while (?:executing|evaluating)$|at \S.{0,300}:\d+|[Ss]tack ?trace(?:back)?:?$)/;

const TRACE_HEADING = /^[Ss]tack ?trace(?:back)?:?$/;

/** The match of a line that ends a Python traceback, with the traceback; else the line's own. */
export function endTraceback(
  stream: Stream,
  row: Row,
  match: Match | null,
): { match: Match | null; extra: Around } {
  if (CHAINED.test(row.trimmed)) stream.chained = true;
  if (!followTraceback(stream, row))
    return { match: isSource(stream, row) ? null : match, extra: {} };
  const chain = stream.chained ? stream.raised : [];
  const frame = stream.traceback?.frame;
  // Of an exception without a message, the line that raised it is shown.
  const source = SAYS.test(row.trimmed) ? undefined : stream.traceback?.source;
  const raised = frame === undefined ? [row] : [frame, row];
  stream.raised = [...chain, ...raised].slice(0, 6);
  stream.chained = false;
  stream.traceback = null;
  const passesOn = match?.rule.use === 'wrapper';
  return {
    match: passesOn ? match : { rule: PYTHON, score: PYTHON.score },
    extra: { frame, source, chain },
  };
}

/** Whether the row is source code inside a traceback. */
export function isSource({ traceback }: Stream, row: Row): boolean {
  return traceback !== null && row.indent > traceback.base;
}

/** The line right above a stack trace that begins with this row, if nothing else explains it. */
export function thrownAbove(stream: Stream, row: Row): { row: Row; match: Match } | null {
  const above = stream.ring.at(-1);
  const last = above && TRACE_HEADING.test(above.trimmed) ? stream.ring.at(-2) : above;
  if (last === undefined || stream.explained || row.gap || row.indent <= last.indent) return null;
  const { trimmed } = last;
  if (!TRACE_BEGINS.test(row.trimmed) || !trimmed.includes(' ')) return null;
  if (marks.frame.test(trimmed) || marks.code.test(trimmed) || marks.place.test(trimmed))
    return null;
  if (TRACE_HEADING.test(trimmed)) return null;
  if (marks.progress.test(trimmed) || severityOfRow(last) !== '') return null;
  return { row: last, match: { rule: TRACED, score: TRACED.score } };
}

/** Whether the row is a cause that is shown with a message above it. */
export function isAttached({ open }: Stream, row: Row): boolean {
  return (
    open.some(({ candidate, trace }) => trace && candidate.score >= SAYS_MORE) &&
    marks.cause.test(row.trimmed)
  );
}
