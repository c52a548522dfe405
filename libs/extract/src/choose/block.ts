/** Chooses the lines around a candidate that a reader needs to understand it. */
import { classify } from '../line/classify.ts';
import { marks } from '../line/marks.ts';
import type { Candidate, Row } from '../line/row.ts';
import { severityOfRow } from '../line/severity.ts';

/** A line to show: in any case, or only if there is room. */
export interface BlockLine {
  readonly row: Row;
  readonly needed: boolean;
}

/** Lines below a candidate that are shown at most. */
const BELOW = 8;

/** The candidate's line, then the lines to show with it, each once. */
export function blockOf(candidate: Candidate): BlockLine[] {
  const { row, rule, cause, around, before } = candidate;
  const needed = [row, placeAbove(candidate), around.frame, around.source];
  const file = /^\W{0,4}\d+:\d+/.test(row.trimmed) ? around.file : undefined;
  const useful = [around.announcer, opening(candidate), file, around.step];
  if (POINTS_ABOVE.test(row.trimmed)) useful.push(...before);
  if (rule.use !== 'wrapper') {
    const below = linesBelow(candidate);
    const prose = below.findIndex((next) => next.indent <= row.indent && !isPlaced(next));
    needed.push(cause, ...below.slice(0, prose < 0 ? BELOW : prose));
    needed.push(below.find(isPlaced));
    useful.push(...below);
  }
  const rows = [...needed, ...useful].filter((each) => each !== undefined);
  return rows
    .filter(({ line }, at) => rows.findIndex((each) => each.line === line) === at)
    .map((each) => ({ row: each, needed: needed.includes(each) }));
}

/** The nearest line above the candidate that is a place in the source. */
function placeAbove({ row, before }: Candidate): Row | undefined {
  return before.findLast(
    ({ trimmed, indent }) => marks.place.test(trimmed) && indent <= row.indent,
  );
}

/** The failure is what stands above. */
const POINTS_ABOVE = /\btoo many warnings\b|max-warnings|\bin the above (?:\d+ )?files?\b/i;

/** A few plain words, without a name, a number, a path or a quotation. */
const NAMES_NOTHING = /^(?:\w{1,12}: )?[A-Za-z][a-z'-]{0,20}(?: [A-Za-z][a-z'-]{0,20}){1,6}[.!]?$/;

const NAMES = /\d|["'`/]/;

/** The line right above, if the candidate needs it: an opening, a heading or the command. */
function opening({ row, before }: Candidate): Row | undefined {
  const above = before.at(-1);
  if (above === undefined || row.gap || row.line - above.line !== 1) return undefined;
  if (above.trimmed.endsWith(':') || row.indent > above.indent) return above;
  const names = NAMES_NOTHING.test(row.trimmed) && NAMES.test(above.trimmed);
  return (names && severityOfRow(above) === '') || marks.echo.test(above.trimmed)
    ? above
    : undefined;
}

/** The lines below that belong to the candidate, up to another message; after a gap only places. */
function linesBelow({ row, after }: Candidate): Row[] {
  const found: Row[] = [];
  let apart = false;
  for (const next of after) {
    const { trimmed } = next;
    const deeper = next.indent > row.indent;
    apart ||= next.gap && !deeper && found.length > 0;
    if (marks.passing.test(trimmed) || (!deeper && beginsOther(next))) break;
    // One of many that differ in numbers alone, as those of progress do.
    if (!deeper && next.shape.seen > 2 && !marks.code.test(trimmed)) break;
    if (marks.foreign.test(trimmed) || marks.summary.test(trimmed) || marks.cause.test(trimmed))
      continue;
    if (!apart || isPlaced(next)) found.push(next);
    if (found.length === BELOW) break;
  }
  return found;
}

/** Lines at which something else begins. */
const BEGINS = [marks.step, marks.aftermath, marks.advice, marks.heading];

function beginsOther({ trimmed, level }: Row): boolean {
  if (BEGINS.some((mark) => mark.test(trimmed))) return true;
  return classify(trimmed, level) !== null && !marks.detail.test(trimmed);
}

/** Whether the line is a place in the source, or a stack frame that names one. */
function isPlaced({ trimmed }: Row): boolean {
  return marks.place.test(trimmed) || (marks.frame.test(trimmed) && /\d/.test(trimmed));
}
