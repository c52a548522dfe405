/** Reads a log once and keeps, in bounded memory, the lines that may tell the cause. */
import type { Match } from '../line/classify.ts';
import { keep } from '../line/keep.ts';
import { createKinds } from '../line/kinds.ts';
import { marks } from '../line/marks.ts';
import type { Around, Candidate, Row } from '../line/row.ts';
import { createShapeCounts, type ShapeCounts, shapeKey } from '../line/shape.ts';
import { endTraceback, isAttached, isSource, SAYS_MORE, thrownAbove } from './exceptions.ts';
import { feed, inScript, type Lane, openCandidate, remember, takeAnnounced } from './lane-state.ts';
import { createLaneSplitter, createLanes } from './lanes.ts';
import { createShortlist } from './shortlist.ts';

/** Lines kept for a log in which no rule matches: those whose shape had been rare until then. */
const RARE_KEPT = 60;
const RARE_SHAPE = 2;
/** Lines kept for a log in which no line is rare: its last ones. */
const LAST_KEPT = 4;
/** What a test runner captured counts this much less, and what was drawn over must be this sure. */
const CAPTURED = 40;
/** What a cause counts that is shown with the message above it. */
const ATTACHED = 50;
/** A line of this score says that something failed. */
const FAILED = 62;
const SURE = 80;

/** What npm and boxes put before every line of a message. */
const QUOTED = /^(?:npm (?:error|ERR!)|[│┃]|\[(?:error|ERROR)\])(?= |$)/;
/** What Python puts before the lines of an exception group. */
const GROUP = /^\s*\+ Exception Group Traceback/;
const GROUPED = /^\s{1,60}(?:\| ?|\+(?=-))/;

/** The rest of a sentence, without a label of its own. */
const GOES_ON = /^(?!(?:fatal )?error: |fatal: )[a-z]/;

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
  let laneOf = createLanes();
  const kindOf = createKinds();
  const keepOr = (row: Row | undefined) => row && keep(row);
  const counts = createShapeCounts();
  const shortlist = createShortlist();
  let rare: { row: Row; aftermath: boolean }[] = [];
  // Those before the last line that only passes the failure on: much may be cleaned up after it.
  let beforeEnd: typeof rare = [];
  let bare: Row | null = null;
  const lastRows: Row[] = [];
  let epoch = 0;
  let aftermath = false;
  // Whoever cleans up before anything failed only makes room.
  let failed = false;
  let job = '';
  let jobs = 0;

  function nextJob(name: string): void {
    job = name;
    jobs += 1;
    laneOf = createLanes();
    aftermath = false;
    failed = false;
  }

  function offer(match: Match, row: Row, lane: Lane, extra: Around, after: Row[] = []): void {
    if (match.rule.use === 'wrapper' && !aftermath) beforeEnd = rare.slice(-RARE_KEPT);
    failed ||= match.score >= FAILED || match.rule.use === 'wrapper';
    shortlist.offer(row.key, { rule: match.rule, epoch, line: row.line }, () => {
      const candidate: Candidate = {
        ...match,
        row: keep(row),
        epoch,
        job: jobs,
        aftermath,
        passed: false,
        before: lane.ring.filter(({ line }) => line < row.line).map(keep),
        after,
        causes: [],
        around: {
          test: keepOr(lane.test),
          file: keepOr(lane.file),
          step: keepOr(lane.step),
          ...extra,
        },
      };
      openCandidate(lane, candidate);
      lane.tests.said(candidate);
      return candidate;
    });
  }

  function weigh(row: Row, lane: Lane, own: Match | null): void {
    const thrown = thrownAbove(lane, row);
    if (thrown !== null) offer(thrown.match, thrown.row, lane, {}, [keep(row)]);
    const { match: said, extra } = endTraceback(lane, row, own);
    const announcer = lane.announcer?.row;
    const match = takeAnnounced(lane, row, said);
    if (match === null) return;
    const heard = lane.announcer === null ? keepOr(announcer) : undefined;
    let { score } = match;
    if (lane.captured !== null) score -= CAPTURED;
    // A cause below its message is shown with it.
    if (isAttached(lane, row)) score = Math.min(score, ATTACHED);
    // A warning goes on in the next line.
    if (match.rule.weak && lane.warned && !row.gap && GOES_ON.test(row.trimmed)) return;
    offer({ rule: match.rule, score }, row, lane, { ...extra, announcer: heard });
    if (match.rule.use === 'announce') lane.announcer = { row, score: match.score };
    if (match.rule.use === 'test') beginTest(lane, row);
  }

  return {
    add(text, line, overwritten) {
      // Most lines of some logs: nobody says nothing.
      const spoken = text === '' ? { lane: '', job, body: '' } : split(text);
      if (spoken.job !== job) nextJob(spoken.job);
      const lane = laneOf(spoken.lane);
      lane.grouped = (lane.grouped && GROUPED.test(spoken.body)) || GROUP.test(spoken.body);
      const inner = spoken.body.replace(lane.grouped ? GROUPED : QUOTED, '');
      const trimmed = inner.trim();
      if (trimmed === '') {
        addBlank(lane, overwritten);
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
      if (kind.aftermath && (failed || marks.isEnd(trimmed))) aftermath = true;
      if (kind.step) epoch += 1;
      if (inScript(lane, trimmed)) return;
      if (counts.add(row.key) <= RARE_SHAPE && !isSource(lane, row)) {
        rare.push({ row, aftermath });
        if (rare.length > 2 * RARE_KEPT) rare = rare.slice(-RARE_KEPT);
      }
      feed(lane, row);
      endCaptured(lane, indent);
      weigh(row, lane, kind.match);
      if (kind.begins) beginTest(lane, row);
      lane.tests.follow(trimmed);
      if (kind.captured) {
        lane.captured = { indent, toBlank: /^std(?:err|out) \|/.test(trimmed) };
      }
      lane.told = (kind.match?.score ?? 0) >= SAYS_MORE || lane.traceback !== null;
      remember(lane, row, kind);
    },
    finish: () => ({
      candidates: shortlist.all(),
      rare: [...new Set([...beforeEnd, ...rare.slice(-RARE_KEPT)])].map((one) => ({
        ...one,
        row: keep(one.row),
      })),
      counts,
      repeats: shortlist.repeats,
      lastRows: (lastRows.length === 0 && bare !== null ? [bare] : lastRows).map(keep),
    }),
  };
}

function bareRow(text: string, line: number): Row {
  return { line, text, whole: text, trimmed: text, indent: 0, key: shapeKey(text), gap: false };
}

function addBlank(lane: Lane, overwritten: boolean): void {
  if (!overwritten) lane.gap = true;
  if (lane.captured?.toBlank === true) lane.captured = null;
}

function beginTest(lane: Lane, row: Row): void {
  lane.test = row;
  lane.since = 0;
}

function endCaptured(lane: Lane, indent: number): void {
  const { captured } = lane;
  if (captured !== null && !captured.toBlank && indent <= captured.indent) lane.captured = null;
}
