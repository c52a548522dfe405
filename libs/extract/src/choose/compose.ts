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

/** The text that is shown, and the numbers of its lines in the log. */
export interface Composed {
  readonly text: string;
  readonly lines: number[];
}

/** A row as people see it: redacted, with its speaker if several speak. */
export type Show = (row: Row) => string;

interface Shown {
  readonly line: number;
  readonly at: number;
  readonly text: string;
}

/** The leader's block, the other causes and what is likely, in at most `max` code points. */
export function compose(ranked: readonly Ranked[], max: number, show: Show): Composed {
  const [leader, ...others] = ranked;
  if (leader === undefined) return { text: '', lines: [] };
  const head = leader.candidate.row;
  const shown: Shown[] = [];
  let used = 0;
  const add = (row: Row, room: number, times = 1, limit = LINE): boolean => {
    if (shown.some((other) => other.line === row.line)) return true;
    const text = line(show(row), limit, times);
    if (shown.some((other) => repeats(other.text, text))) return true;
    const size = codePoints(text) + (shown.length > 0 ? 1 : 0);
    if (used + size > room) return false;
    shown.push({ line: row.line, at: row.at, text });
    used += size;
    return true;
  };
  const addIfRoom: Add = (row, times) => add(row, max * ENOUGH, times);
  const picks = blockOf(leader.candidate);
  for (const { row, needed } of picks) {
    if (row === head) add(row, max, leader.times, Math.min(HEAD_LINE, max));
    else if (needed) add(row, max);
  }
  const beside = besideHead(ranked);
  if (beside !== undefined) add(beside.candidate.row, max, beside.times);
  addSecond(ranked, addIfRoom);
  for (const { row, needed } of picks) if (!needed) addIfRoom(row);
  const rest = others.filter((each) => !isWrapper(each));
  addOthers(rest, addIfRoom);
  for (const { candidate, times, likely } of rest)
    if (likely >= NEEDED) add(candidate.row, max, times);
  const end = isMatched(leader) ? undefined : others.find(isWrapper);
  if (end !== undefined) add(end.candidate.row, max, end.times);
  return arrange(shown, picks, beside?.candidate.row);
}

/** Adds a line if it has room; whether it is shown. */
type Add = (row: Row, times?: number) => boolean;

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
  for (const each of said.toSorted(compareByRules)) add(each.candidate.row, each.times);
}

/** What the rules alone would have chosen, if its words speak against it. */
function addSecond(ranked: readonly Ranked[], add: Add): void {
  const second = ranked.toSorted(compareByRules)[0];
  if (second === undefined || second === ranked[0] || isWrapper(second)) return;
  for (const { row } of blockOf(second.candidate))
    add(row, row === second.candidate.row ? second.times : 1);
}

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

/** The likeliest line beside the head, to stand in its line; above it only one that a rule matches. */
function besideHead([leader, ...others]: readonly Ranked[]): Ranked | undefined {
  const head = leader?.candidate.row;
  return others.find((each) => {
    const { row } = each.candidate;
    const { trimmed, speaker, line: at } = row;
    if (head === undefined || speaker !== head.speaker || Math.abs(at - head.line) > BESIDE)
      return false;
    if (isWrapper(each) || each.likely < LIKELY || /:$|^["'{[!]|^\S+$/.test(trimmed)) return false;
    if (row.level !== '' && row.level !== head.level) return false;
    if (row.shape === head.shape || (at < head.line && !isMatched(each))) return false;
    return readLabels(trimmed).severity === '' && !APART.some((mark) => mark.test(trimmed));
  });
}

/** The head first, with what stands in its line, everything else as it stood in the log. */
function arrange(
  shown: readonly Shown[],
  picks: readonly BlockLine[],
  beside: Row | undefined,
): Composed {
  const head = picks[0]?.row.line;
  const rest = shown.filter(({ line: at }) => at !== head).toSorted((a, b) => a.line - b.line);
  const first = shown.find(({ line: at }) => at === head);
  const message = rest.find(({ line: at }) => at === beside?.line);
  const joins =
    first !== undefined &&
    message !== undefined &&
    !isCounted(first) &&
    !isCounted(message) &&
    first.text.length + message.text.length < HEAD_LINE;
  const texts = [
    ...(first === undefined ? [] : [joins ? `${first.text} ${message.text.trim()}` : first.text]),
    ...rest.filter((each) => !joins || each !== message).map(({ text }) => text),
  ];
  return {
    text: texts.join('\n'),
    lines: [...new Set(shown.map(({ at }) => at))].toSorted((a, b) => a - b),
  };
}

/** A line that stands for several does not share its line. */
const isCounted = ({ text }: Shown) => / \(×\d+\)$/.test(text);

function line(text: string, limit: number, times: number): string {
  const count = times >= 3 ? ` (×${times})` : '';
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
