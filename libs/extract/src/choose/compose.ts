/** Puts the chosen lines together: cause first, within the limit. */
import { codePoints, cutCodePoints } from '@runner/common/text/plain';
import { marks } from '../line/marks.ts';
import type { Row } from '../line/row.ts';
import { readLabels } from '../line/severity.ts';
import { type BlockLine, blockOf } from './block.ts';
import { compareByRules, isMatched, type Ranked } from './rank.ts';

/** Share of the limit that is filled with what may help; only what is surely needed goes beyond it. */
const ENOUGH = 0.5;
/** The score that a line needs to be shown for its rule. */
const SAID = 40;
/** Longest line shown, the first and any other, in code points. */
const HEAD_LINE = 600;
const LINE = 200;
/** How much less likely than the likeliest line one may be that is needed, and one beside the head. */
const NEEDED = -1.8;
const LIKELY = -3;
/** The likeliest line joins the head's line, if it is at most this many lines away. */
const BESIDE = 4;
/** What a head opens is at most this many lines below it. */
const OPENED = 2;

/** The text that is shown, and the numbers of its lines in the log. */
export interface Composed {
  readonly text: string;
  readonly lines: number[];
}

/** A row as people see it: redacted, with its speaker if several speak. */
export type Show = (row: Row) => string;

interface Shown {
  readonly row: Row;
  readonly text: string;
}

/** The leader's block, the other causes and what is likely, in at most `max` code points. */
export function compose(ranked: readonly Ranked[], max: number, show: Show): Composed {
  const [leader, ...others] = ranked;
  if (leader === undefined) return { text: '', lines: [] };
  const head = leader.candidate.row;
  const shown: Shown[] = [];
  let used = 0;
  const add = (row: Row, room: number, limit = LINE): boolean => {
    const { line: at, shape } = row;
    const same = isCounted(row) ? shape : undefined;
    if (shown.some(({ row: its }) => its.line === at || its.shape === same)) return true;
    const text = line(show(row), limit, same?.offered);
    if (shown.some((other) => repeats(other.text, text))) return true;
    const size = codePoints(text) + (shown.length > 0 ? 1 : 0);
    if (used + size > room) return false;
    shown.push({ row, text });
    used += size;
    return true;
  };
  const addIfRoom: Add = (row) => add(row, max * ENOUGH);
  const picks = blockOf(leader.candidate);
  for (const { row, needed } of picks) {
    if (row === head) add(row, max, Math.min(HEAD_LINE, max));
    else if (needed) add(row, max);
  }
  const beside = besideHead(ranked);
  if (beside !== undefined) add(beside, max);
  addSecond(ranked, addIfRoom);
  for (const { row, needed } of picks) if (!needed) addIfRoom(row);
  const rest = others.filter((each) => !isWrapper(each));
  addOthers(rest, addIfRoom);
  for (const { candidate, likely } of rest) if (likely >= NEEDED) add(candidate.row, max);
  const end = isMatched(leader) ? undefined : others.find(isWrapper);
  if (end !== undefined) add(end.candidate.row, max);
  return arrange(shown, picks, beside);
}

/** Adds a line if it has room; whether it is shown. */
type Add = (row: Row) => boolean;

function isWrapper({ candidate }: Ranked): boolean {
  return candidate.rule.use === 'wrapper';
}

/** Whether a line says nothing that another one does not: the same message under another name. */
function repeats(other: string, text: string): boolean {
  if (other === text) return true;
  const message = /^\s*[\w.:[\]-]{1,80}: (.{24,})$/.exec(text)?.[1];
  return message !== undefined && other.endsWith(message);
}

/** Other causes in the order of their rules. */
function addOthers(others: readonly Ranked[], add: Add): void {
  const said = others.filter((each) => isMatched(each) && each.score >= SAID);
  for (const each of said.toSorted(compareByRules)) add(each.candidate.row);
}

/** What the rules alone would have chosen, if its words speak against it. */
function addSecond(ranked: readonly Ranked[], add: Add): void {
  const second = ranked.toSorted(compareByRules)[0];
  if (second === undefined || second === ranked[0] || isWrapper(second)) return;
  for (const { row } of blockOf(second.candidate)) add(row);
}

/** From this many lines of one shape on, one stands for all, with their count. */
const COUNTED = 3;

/** Lines that are no sentence of a message. */
const APART = [
  marks.aftermath,
  marks.code,
  marks.field,
  marks.frame,
  marks.harmless,
  marks.place,
  marks.progress,
];

/** The line that stands in the head's line: what the head opens, or the likeliest line beside it. */
function besideHead([leader, ...others]: readonly Ranked[]): Row | undefined {
  if (leader === undefined) return undefined;
  const { row: head, after } = leader.candidate;
  const [next] = after;
  const isOpened = head.trimmed.endsWith(':') && next && next.line - head.line <= OPENED;
  if (isOpened && !next.trimmed.endsWith(':') && isSentence(next)) return next;
  return others.find((each) => isBeside(each, head))?.candidate.row;
}

/** Whether a line may stand in the head's line; one above it only if a rule matches. */
function isBeside(each: Ranked, head: Row): boolean {
  const { row, after } = each.candidate;
  const { trimmed, speaker, line: at } = row;
  if (speaker !== head.speaker || Math.abs(at - head.line) > BESIDE) return false;
  if (isWrapper(each) || each.likely < LIKELY || /:$|^["'{[!]|^\S+$/.test(trimmed)) return false;
  if (row.level !== '' && row.level !== head.level) return false;
  if (row.shape === head.shape || (at < head.line && !isMatched(each))) return false;
  return isSentence(row) && !/^\^+$/.test(after[0]?.trimmed ?? '');
}

function isSentence({ trimmed }: Row): boolean {
  return readLabels(trimmed).severity === '' && !APART.some((mark) => mark.test(trimmed));
}

/** The head first, with what stands in its line, everything else as it stood in the log. */
function arrange(
  shown: readonly Shown[],
  picks: readonly BlockLine[],
  beside: Row | undefined,
): Composed {
  const head = picks[0]?.row;
  const rest = shown.filter(({ row }) => row !== head).toSorted((a, b) => a.row.line - b.row.line);
  const first = shown.find(({ row }) => row === head);
  const message = rest.find(({ row }) => row === beside);
  const joins =
    first !== undefined &&
    message !== undefined &&
    !isCounted(first.row) &&
    !isCounted(message.row) &&
    first.text.length + message.text.length < HEAD_LINE;
  const texts = [
    ...(first === undefined ? [] : [joins ? `${first.text} ${message.text.trim()}` : first.text]),
    ...rest.filter((each) => !joins || each !== message).map(({ text }) => text),
  ];
  return {
    text: texts.join('\n'),
    lines: [...new Set(shown.map(({ row }) => row.at))].toSorted((a, b) => a - b),
  };
}

/** A line that stands for several does not share its line. */
const isCounted = ({ shape }: Row) => shape.offered >= COUNTED;

function line(text: string, limit: number, times?: number): string {
  const count = times ? ` (×${times})` : '';
  return shorten(tidy(text), limit - count.length) + count;
}

/** Share of a line that is too long which its end keeps: chains of errors tell the cause there. */
const TAIL = 0.35;

function shorten(text: string, limit: number): string {
  const size = codePoints(text);
  if (size <= limit) return text;
  const tail = [...text].slice(size - Math.floor(limit * TAIL)).join('');
  const words = tail.slice(tail.indexOf(' ') + 1);
  return cutCodePoints(text, limit - codePoints(words)) + words;
}

/** A line for display: narrow tabs, no rule drawn after its words. */
export function tidy(text: string): string {
  return text.replaceAll('\t', '  ').replace(/(?<=\S) *(?:[─━═]{4,200}|[-=_*]{8,200})$/, '');
}
