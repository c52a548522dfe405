/** Reads a log once and keeps, in bounded memory, the lines that may tell the cause. */
import type { Match } from './classify.ts';
import { keep } from './keep.ts';
import { createKinds } from './kinds.ts';
import {
  feed,
  followTraceback,
  type Lane,
  openCandidate,
  remember,
  takeAnnounced,
} from './lane-state.ts';
import { createLaneSplitter, createLanes } from './lanes.ts';
import type { Around, Candidate, Row } from './row.ts';
import { rule } from './rule.ts';
import { createShapeCounts, type ShapeCounts, shapeKey } from './shape.ts';
import { createShortlist } from './shortlist.ts';

/** Lines kept for a log in which no rule matches: those whose shape had been rare until then. */
const RARE_KEPT = 60;
const RARE_SHAPE = 2;
/** Lines kept for a log in which no line is rare: its last ones. */
const LAST_KEPT = 4;
/** What a test runner captured counts this much less, and what was drawn over must be this sure. */
const CAPTURED = 40;
const SURE = 80;

/** What npm and boxes put before every line of a message. */
const QUOTED = /^(?:npm (?:error|ERR!)|[│┃])(?= |$)/;
const CHAINED = /^(?:The above exception was the direct|During handling of the above)/;

const PYTHON = rule('python', 'exception', 92, /\S/, { pick: 'last' });

/** What is kept of a log: bounded, whatever its length. */
export interface Collected {
  readonly candidates: readonly Candidate[];
  /** The last lines whose shape was rare when they came. */
  readonly rare: readonly { row: Row; aftermath: boolean }[];
  /** How often the shapes of all lines were seen. */
  readonly counts: ShapeCounts;
  /** How often the shapes of candidates were seen. */
  readonly repeats: ShapeCounts;
  /** The last lines that are not blank, the very last one at the end. */
  readonly lastRows: readonly Row[];
}

/** Takes the lines of a log in their order. */
export interface Collector {
  add(text: string, line: number, overwritten: boolean): void;
  finish(): Collected;
}

/** A collector for one log. */
export function createCollector(): Collector {
  const split = createLaneSplitter();
  const laneOf = createLanes();
  const kindOf = createKinds();
  const keepOr = (row: Row | undefined) => row && keep(row);
  const counts = createShapeCounts();
  const shortlist = createShortlist();
  let rare: { row: Row; aftermath: boolean }[] = [];
  let bare: Row | null = null;
  const lastRows: Row[] = [];
  let epoch = 0;
  let aftermath = false;

  function offer(match: Match, row: Row, lane: Lane, extra: Around): void {
    shortlist.offer(row.key, { rule: match.rule, epoch, line: row.line }, () => {
      const candidate: Candidate = {
        ...match,
        row: keep(row),
        epoch,
        aftermath,
        before: lane.ring.map(keep),
        after: [],
        causes: [],
        around: {
          test: keepOr(lane.test),
          file: keepOr(lane.file),
          step: keepOr(lane.step),
          ...extra,
        },
      };
      openCandidate(lane, candidate);
      return candidate;
    });
  }

  /** The match of a line that ends a traceback, with the traceback; else the line's own. */
  function exception(
    row: Row,
    lane: Lane,
    match: Match | null,
  ): { match: Match | null; extra: Around } {
    if (CHAINED.test(row.trimmed)) lane.chained = true;
    if (!followTraceback(lane, row)) return { match, extra: {} };
    const chain = lane.chained ? lane.raised : [];
    const extra = { frame: keepOr(lane.traceback?.frame), chain };
    lane.raised = [...chain, keep(row)].slice(0, 4);
    lane.chained = false;
    lane.traceback = null;
    return {
      match: match?.rule.use === 'wrapper' ? match : { rule: PYTHON, score: PYTHON.score },
      extra,
    };
  }

  function weigh(row: Row, lane: Lane, own: Match | null): void {
    const { match: said, extra } = exception(row, lane, own);
    const announcer = lane.announcer?.row;
    const match = takeAnnounced(lane, row, said);
    if (match === null) return;
    const heard = lane.announcer === null ? keepOr(announcer) : undefined;
    const score = lane.captured === null ? match.score : match.score - CAPTURED;
    offer({ rule: match.rule, score }, row, lane, { ...extra, announcer: heard });
    if (match.rule.use === 'announce') lane.announcer = { row, score: match.score };
    if (match.rule.use === 'test') beginTest(lane, row);
  }

  return {
    add(text, line, overwritten) {
      const spoken = split(text);
      const lane = laneOf(spoken.lane);
      const inner = spoken.body.replace(QUOTED, '');
      const trimmed = inner.trim();
      if (trimmed === '') {
        if (!overwritten) lane.gap = true;
        if (lane.captured?.toBlank === true) lane.captured = null;
        // A log of nothing but speakers still has something to show.
        if (text.trim() !== '') bare ??= bareRow(text, line);
        return;
      }
      const indent = inner.length - inner.trimStart().length;
      const whole = spoken.body.trim();
      const row: Row = { line, text, whole, trimmed, indent, key: shapeKey(whole), gap: lane.gap };
      if (overwritten) {
        const { match } = kindOf(row);
        if (match !== null && match.score >= SURE) offer(match, row, lane, {});
        return;
      }
      lane.gap = false;
      lastRows.push(row);
      if (lastRows.length > LAST_KEPT) lastRows.shift();
      const kind = kindOf(row);
      if (kind.aftermath) aftermath = true;
      if (kind.step) epoch += 1;
      if (counts.add(row.key) <= RARE_SHAPE) {
        rare.push({ row, aftermath });
        if (rare.length > 2 * RARE_KEPT) rare = rare.slice(-RARE_KEPT);
      }
      feed(lane, row);
      endCaptured(lane, indent);
      weigh(row, lane, kind.match);
      if (kind.begins) beginTest(lane, row);
      if (kind.captured) {
        lane.captured = { indent, toBlank: /^std(?:err|out) \|/.test(trimmed) };
      }
      remember(lane, row, kind);
    },
    finish: () => ({
      candidates: shortlist.all(),
      rare: rare.slice(-RARE_KEPT).map((one) => ({ ...one, row: keep(one.row) })),
      counts,
      repeats: shortlist.repeats,
      lastRows: (lastRows.length === 0 && bare !== null ? [bare] : lastRows).map(keep),
    }),
  };
}

function bareRow(text: string, line: number): Row {
  return { line, text, whole: text, trimmed: text, indent: 0, key: shapeKey(text), gap: false };
}

function beginTest(lane: Lane, row: Row): void {
  lane.test = row;
  lane.since = 0;
}

function endCaptured(lane: Lane, indent: number): void {
  const { captured } = lane;
  if (captured !== null && !captured.toBlank && indent <= captured.indent) lane.captured = null;
}
