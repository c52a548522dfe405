/** Recognises the messages of exceptions by the stack traces around them. */
import { kindOf } from '../line/classify.ts';
import { marks } from '../line/marks.ts';
import type { Around, Match, Row } from '../line/row.ts';
import { PYTHON } from '../rules/labels.ts';
import type { Stream } from './stream.ts';

/** A message of this score takes the causes below it. */
const SAYS_MORE = 60;
/** A message after the exception's name. */
const SAYS = /:\s*\S|\s/;
/** The name of an exception: neither drawn nor the rest of a wrapped frame. */
const RAISES = /^[\p{L}_][\p{L}\p{N}_.]*(?::|$)/u;
/** The place of a syntax error, which may stand without a traceback above. */
const MISWRITTEN = /^File "[^"]{1,300}", line \d{1,7}$/;
/** Stack traces whose message need not look like one. */
const TRACE_BEGINS =
  /^(?:while (?:executing|evaluating)$|at \S.{0,300}:\d+|[Ss]tack ?trace(?:back)?:?$)/;

/** The match of a line, and what is shown with it: of one that ends a Python traceback, its frame. */
export function endTraceback(
  stream: Stream,
  row: Row,
  match: Match | null,
): { match: Match | null; extra: Around } {
  const { trimmed, indent } = row;
  const start = trimmed.indexOf('Traceback (most recent call last)');
  if (start >= 0) stream.traceback = { base: start > 0 ? 0 : indent };
  else if (MISWRITTEN.test(trimmed)) stream.traceback ??= { base: Math.max(0, indent - 2) };
  const trace = stream.traceback;
  if (start >= 0 || trace === null) return { match, extra: {} };
  const { frame, source } = trace;
  if (trimmed.startsWith('File "')) {
    if (!frame || !marks.foreign.test(trimmed) || marks.foreign.test(frame.trimmed))
      stream.traceback = { base: trace.base, frame: row };
  } else if (indent <= trace.base && RAISES.test(trimmed)) {
    stream.traceback = null;
    // Of an exception without a message, the line that raised it is shown.
    const extra = { frame, source: SAYS.test(trimmed) ? undefined : source };
    const passesOn = match?.rule.use === 'wrapper';
    return { match: passesOn ? match : { rule: PYTHON, score: PYTHON.score }, extra };
  } else if (stream.ring.at(-1) === frame) trace.source = row;
  return { match: null, extra: {} };
}

/** The line right above a stack trace that begins with this row, if no rule matches it. */
export function thrownAbove({ ring }: Stream, row: Row): Row | undefined {
  const above = ring.at(-1);
  if (above === undefined || row.gap || row.indent <= above.indent) return undefined;
  if (!TRACE_BEGINS.test(row.trimmed) || !above.trimmed.includes(' ')) return undefined;
  return kindOf(above).match === null ? above : undefined;
}

/** Whether the row is a cause that is shown with a message above it. */
export function isAttached({ open }: Stream, row: Row): boolean {
  return (
    open.some(({ candidate, trace }) => trace && candidate.score >= SAYS_MORE) &&
    marks.cause.test(row.trimmed)
  );
}
