/** Chooses the lines around a candidate that a reader needs to understand it. */
import { marks } from '../line/marks.ts';
import type { Candidate, Row } from '../line/row.ts';
import { severityOfRow } from '../line/severity.ts';
import { following } from './following.ts';
import { NAMES_NOTHING, type Pick } from './reading.ts';

/** The candidate's line, then the lines to show with it. */
export function blockOf(candidate: Candidate): Pick[] {
  const root = rootOf(candidate);
  const picks: Pick[] = [
    ...(root === undefined ? [] : [{ row: root, need: 0 } as const]),
    { row: candidate.row, need: 0 },
  ];
  const add = (row: Row | undefined, need: Pick['need']): void => {
    if (row !== undefined && !picks.some((pick) => pick.row.line === row.line))
      picks.push({ row, need });
  };
  const { around, causes, rule } = candidate;
  const places = placesBefore(candidate);
  add(around.announcer, hasPlace(around.announcer) ? 0 : 1);
  for (const row of places) add(row, 0);
  for (const row of introductions(candidate)) add(row, 1);
  const quote = candidate.before.at(-1);
  // Dumped validation findings have the path above the message.
  if (/^"?message"?: /.test(candidate.row.trimmed))
    add(
      candidate.before.findLast(({ trimmed }) => FINDING_AT.test(trimmed)),
      0,
    );
  // npm prints the error code on a separate line.
  if (candidate.row.whole !== candidate.row.trimmed)
    add(
      candidate.before.findLast(({ trimmed }) => /^code E[A-Z0-9]+$/.test(trimmed)),
      1,
    );
  // The shell echoed the failing command.
  if (quote && marks.isEcho(quote.trimmed) && candidate.row.line - quote.line === 1) add(quote, 1);
  if (TOO_MANY_WARNINGS.test(candidate.row.trimmed))
    for (const row of candidate.before.slice(-5)) if (!marks.isPassing(row.trimmed)) add(row, 1);
  const chain = (around.chain ?? []).filter(({ trimmed }) => !marks.isForeign(trimmed));
  for (const row of chain.slice(0, 2)) add(row, 0);
  add(around.frame, 0);
  add(around.source, 0);
  if (rule.use !== 'wrapper') {
    for (const pick of following(candidate)) add(pick.row, pick.need);
    const deepest = causes.findLastIndex(({ trimmed }) => marks.isCause(trimmed));
    for (const row of causes.slice(deepest)) add(row, 0);
    if (rule.use !== 'test') add(around.test, 0);
    const { line, trimmed } = candidate.row;
    const rowOfFile = /^(?:(?:##\[\w{1,10}\])?\s*\d+:\d+|[~^-]+ )/.test(trimmed);
    if (rowOfFile || around.file?.line === line - 1) add(around.file, 0);
    add(around.step, 1);
  }
  return picks;
}

/** What is surely shown of a message. */
const SHOWN = 200;
const CAUSED = /^(?:Caused by: |---> )(?=[^:]{1,300}: \S)/i;

/** Whether a line of a drawn tree stands one step below the other one. */
function isBranch({ trimmed, indent }: Row, above: Row): boolean {
  return trimmed.startsWith('> ') && above.trimmed.startsWith('> ') && indent > above.indent;
}

/** The cause at the root of a chain, if the message at its top does not say it. */
function rootOf({ causes, rule, row, after }: Candidate): Row | undefined {
  const end = after.findIndex((below, at) => !isBranch(below, after[at - 1] ?? row));
  const branch = after[end - 1];
  if (rule.use === 'cause' && branch !== undefined) return branch;
  const chain = causes.filter(({ trimmed }) => CAUSED.test(trimmed));
  const message = chain.at(-1)?.trimmed.replace(/^.*?: .*?: /, '');
  if (
    message === undefined ||
    rule.use !== 'cause' ||
    row.trimmed.slice(0, SHOWN).includes(message)
  )
    return;
  const root = chain.find(({ trimmed }) => trimmed.includes(message));
  return root && { ...root, body: root.trimmed.replace(CAUSED, '') };
}

/**
 * Lines directly above a message that belong to it: a line ending in a colon and the one it continues,
 * the other fields of a record, or, if the message names nothing specific, a line that does.
 */
function introductions({ before, row, rule, around }: Candidate): Row[] {
  const last = before.at(-1);
  if (last === undefined || row.gap || rule.use !== 'cause' || rule.class === 'test') return [];
  if (row.line - last.line !== 1 || around.announcer === last || around.frame) return [];
  if (!isSaid(last)) return [];
  if (/\w.{12,300}:$/.test(last.trimmed)) {
    const first = before.at(-2);
    const goesOn = !last.gap && first !== undefined && last.indent > first.indent;
    return goesOn && isSaid(first) ? [last, first] : [last];
  }
  if (rule.weak && row.indent > last.indent && !marks.isStep(last.trimmed)) return [last];
  return NAMES_NOTHING.test(row.trimmed) && NAMES.test(last.trimmed) ? [last] : [];
}

const FINDING_AT = /^"?(?:path|field|param|property|instancePath|dataPath|loc)"?: /;

/** The failure is the warnings above. */
const TOO_MANY_WARNINGS =
  /\bCode style issues? (?:were )?found\b|\btoo many warnings\b|\bwarnings? (?:are |is )?(?:treated|considered) as errors?\b|max-warnings/i;

/** Contains a number, path, quotation or dotted name. */
const NAMES = /\d|["'`/]|\w\.\w/;

/** Whether a line is unlabelled prose, not code, a stack frame, progress or another message. */
function isSaid(row: Row): boolean {
  const { trimmed } = row;
  return (
    !marks.isCode(trimmed) &&
    !marks.isFrame(trimmed) &&
    !marks.isPassing(trimmed) &&
    !marks.isEcho(trimmed) &&
    !marks.isSummary(trimmed) &&
    severityOfRow(row) === '' &&
    /\p{L}{2}/u.test(trimmed)
  );
}

function hasPlace(row: Row | undefined): boolean {
  return row !== undefined && /[\w)]\.\w{1,8}\b|:\d+/.test(row.trimmed);
}

/** The place that some tools print above the message, perhaps with a code frame in between. */
function placesBefore(candidate: Candidate): Row[] {
  const found: Row[] = [];
  let pointed = false;
  for (const row of candidate.before.toReversed()) {
    const { trimmed } = row;
    // An interpreter prints the place, the source line and a caret below it.
    if (pointed && !marks.isPlace(trimmed)) {
      pointed = false;
      continue;
    }
    pointed = /^[~^]+$/.test(trimmed);
    if (
      (marks.isPlace(trimmed) &&
        !/^(?:-+>|└─)/.test(trimmed) &&
        (row.indent <= candidate.row.indent || trimmed.startsWith('File "'))) ||
      /^ERROR in \S|: [Ii]n (?:function|member|constructor|instantiation|Funktion|lambda)/.test(
        trimmed,
      )
    ) {
      found.push(row);
      break;
    }
    const between = marks.isCode(trimmed) || row.indent > 0 || marks.isFrame(trimmed);
    if (!between || candidate.row.indent > 0) break;
  }
  return found;
}
