/** Puts the chosen lines together: cause first, within the limit. */
import { codePoints, cutCodePoints } from '@runner/common/text/plain';
import { marks } from '../line/marks.ts';
import type { Row } from '../line/row.ts';
import { readLabels } from '../line/severity.ts';
import { blockOf } from './block.ts';
import { compareByRules } from './rank.ts';
import { isMatched, type Ranked } from './ranked.ts';
import type { Pick } from './reading.ts';

/** Share of the limit up to which lines of each need are added. */
const ROOM = [1, 0.62, 0.4] as const;
/** Share up to which other candidates add their line, and how many may. */
const OTHERS_ROOM = 0.5;
const OTHERS = 4;
/** Another candidate is shown if its score is at most this far below the leader's. */
const NEAR_SCORE = 40;
/** The score that what the rules would have chosen needs. */
const SECOND = 40;
/** Longest line shown, the first and any other, in code points. */
const HEAD_LINE = 600;
const LINE = 200;
/** Share up to which other likely lines are added, and how much less likely they may be. */
const FILL = 0.9;
const LIKELY = -2.5;
/** The score from which a rule is sure that its line is a cause. */
const SURE = 70;
/** The likeliest of them joins the head's line, if it is at most this many lines away. */
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

/** The leader's block and the heads of the others in at most `max` code points. */
export function compose(all: readonly Ranked[], max: number, show: Show): Composed {
  const leader = all[0];
  if (leader === undefined) return { text: '', lines: [] };
  const sure = isMatched(leader) && leader.score >= SURE;
  const ranked = all.filter((each) => isMatched(each) || (!sure && mayTell(each)));
  const shown: Shown[] = [];
  let used = 0;
  const add = (row: Row, limit: number, room: number, times: number): boolean => {
    if (shown.some((other) => other.line === row.line)) return true;
    const text = line(show(row), limit, times);
    if (shown.some((other) => repeats(other.text, text))) return true;
    const size = codePoints(text) + (shown.length > 0 ? 1 : 0);
    if (used + size > room) return false;
    shown.push({ line: row.line, at: row.at, text });
    used += size;
    return true;
  };
  const picks = blockOf(leader.candidate);
  const addPicks = (need: Pick['need'], share: number): void => {
    for (const pick of picks) {
      if (pick.need !== need) continue;
      const head = pick.row === leader.candidate.row;
      const limit = head ? Math.min(HEAD_LINE, max) : LINE;
      add(pick.row, limit, head ? max : max * share, head ? leader.times : 1);
    }
  };
  addPicks(0, ROOM[0]);
  const beside = besideHead(all);
  if (beside !== undefined) add(beside, LINE, max * ROOM[1], 1);
  addSecond(ranked, (row, times) => add(row, LINE, max * ROOM[1], times));
  addOthers(ranked, leader, (row, times) => add(row, LINE, max * OTHERS_ROOM, times));
  addPicks(1, ROOM[1]);
  for (const each of likeliest(ranked)) add(each.candidate.row, LINE, max * FILL, each.times);
  addPicks(2, ROOM[2]);
  const end = isMatched(leader) ? undefined : all.find(isWrapper);
  if (end !== undefined) add(end.candidate.row, LINE, max, end.times);
  return arrange(shown, picks, beside);
}

/** Whether a line that no rule matches may be worth its room. */
function mayTell({ likely, candidate }: Ranked): boolean {
  return likely >= LIKELY && !marks.isProgress(candidate.row.trimmed);
}

function isWrapper({ candidate }: Ranked): boolean {
  return candidate.rule.use === 'wrapper';
}

/** Whether a line says nothing that another one does not: the same message under another name. */
function repeats(other: string, text: string): boolean {
  if (other === text) return true;
  const message = /^\s*[\w.:[\]-]{1,80}: (.{24,})$/.exec(text)?.[1];
  return message !== undefined && other.endsWith(message);
}

function addOthers(ranked: readonly Ranked[], leader: Ranked, add: Add): void {
  const shapes = new Set([leader.candidate.row.key]);
  let count = 0;
  for (const other of ranked.slice(1).toSorted(compareByRules)) {
    if (count >= OTHERS) return;
    const { row, rule } = other.candidate;
    if (other.score < leader.score - NEAR_SCORE) continue;
    if (rule.use === 'wrapper' || rule.use === 'announce' || shapes.has(row.key)) continue;
    shapes.add(row.key);
    if (!add(row, other.times)) continue;
    count += 1;
    // What leads has its place; of the others one that names none is of little use.
    const place = blockOf(other.candidate).find(
      (pick) => pick.need === 0 && marks.isPlace(pick.row.trimmed),
    );
    if (place !== undefined && !/:\d+/.test(row.trimmed)) add(place.row, 1);
  }
}

type Add = (row: Row, times: number) => boolean;

/** What the rules alone would have chosen, if its words speak against it. */
function addSecond(ranked: readonly Ranked[], add: Add): void {
  const second = ranked.toSorted(compareByRules)[0];
  if (second === undefined || second === ranked[0]) return;
  if (second.candidate.rule.use === 'wrapper' || second.score < SECOND) return;
  for (const { row, need } of blockOf(second.candidate))
    if (need <= 1) add(row, row === second.candidate.row ? second.times : 1);
}

/** The likely ones of the others. */
function likeliest(ranked: readonly Ranked[]): Ranked[] {
  return ranked.slice(1).filter((each) => !isWrapper(each) && each.likely >= LIKELY);
}

/** Lines that are no sentence of a message. */
const APART = [
  marks.isAftermath,
  marks.isCode,
  marks.isField,
  marks.isFrame,
  marks.isHarmless,
  marks.isPlace,
  marks.isProgress,
];

/** The likeliest line beside the head, to stand in its line; above it only one that a rule matches. */
function besideHead([leader, ...others]: readonly Ranked[]): Row | undefined {
  const head = leader?.candidate.row;
  return others.find((each) => {
    const { rule, row } = each.candidate;
    const { trimmed, speaker, line: at } = row;
    if (head === undefined || speaker !== head.speaker || Math.abs(at - head.line) > BESIDE)
      return false;
    if (rule.use === 'wrapper' || each.likely < LIKELY || /:$|^["'{[]/.test(trimmed)) return false;
    if (row.level !== '' && row.level !== head.level) return false;
    if (row.key === head.key || (at < head.line && !isMatched(each))) return false;
    return readLabels(trimmed).severity === '' && !APART.some((is) => is(trimmed));
  })?.candidate.row;
}

/** The head first, with what stands in its line, everything else as it stood in the log. */
function arrange(
  shown: readonly Shown[],
  picks: readonly Pick[],
  beside: Row | undefined,
): Composed {
  const head = picks[0]?.row.line;
  const rest = shown.filter(({ line: at }) => at !== head).toSorted((a, b) => a.line - b.line);
  const first = shown.find(({ line: at }) => at === head);
  const message = rest.find(({ line: at }) => at === beside?.line);
  const joins =
    first !== undefined &&
    message !== undefined &&
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

function line(text: string, limit: number, times: number): string {
  const count = times >= 3 ? ` (×${times})` : '';
  return shorten(tidy(text), limit - count.length) + count;
}

/** Share of a line that is too long which its end keeps: chains of errors tell the cause there. */
const TAIL = 0.35;

function shorten(text: string, limit: number): string {
  const size = codePoints(text);
  if (size <= limit || limit < MIDDLE_CUT || size > LONGEST) return cutCodePoints(text, limit);
  const tail = [...text].slice(size - Math.floor(limit * TAIL)).join('');
  // What has no space in it is data as well.
  const words = tail.slice(tail.indexOf(' ') + 1);
  if (words === tail) return cutCodePoints(text, limit);
  return cutCodePoints(text, limit - codePoints(words)) + words;
}

/** Longer lines are data; in less room than the other both ends would be too short. */
const LONGEST = 2000;
const MIDDLE_CUT = 100;

/** A line for display: narrow tabs, no rule drawn after its words. */
export function tidy(text: string): string {
  return text.replaceAll('\t', '  ').replace(/(?<=\S) *(?:[─━═]{4,200}|[-=_*]{8,200})$/, '');
}
