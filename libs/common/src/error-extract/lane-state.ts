/** What is remembered of one speaker's lines while reading on: bounded, and reset by steps. */
import type { Match } from './classify.ts';
import { keep } from './keep.ts';
import type { Kind } from './kinds.ts';
import { marks } from './marks.ts';
import type { Candidate, Row } from './row.ts';
import { rule } from './rule.ts';

/** Lines remembered before a candidate, and lines that a test's or file's name reaches. */
const RING = 6;
const NAME_REACH = 60;

/** What is remembered of the lines of one speaker. */
export interface Lane {
  readonly ring: Row[];
  /** Candidates that still take following lines, with what they may still take. */
  open: { candidate: Candidate; rows: number; trace: boolean }[];
  gap: boolean;
  /** The line that announced an error, until its message comes. */
  announcer: { row: Row; score: number } | null;
  test: Row | undefined;
  file: Row | undefined;
  step: Row | undefined;
  traceback: { base: number; frame: Row | undefined; own: boolean } | null;
  /** The last exception of a traceback, and whether the next one was raised from it. */
  raised: Row[];
  chained: boolean;
  captured: { indent: number; toBlank: boolean } | null;
  since: number;
}

/** A speaker of whom nothing was heard yet. */
export function createLane(): Lane {
  return {
    ring: [],
    open: [],
    gap: false,
    announcer: null,
    test: undefined,
    file: undefined,
    step: undefined,
    traceback: null,
    raised: [],
    chained: false,
    captured: null,
    since: 0,
  };
}

/** A file's name stands at the margin, or nearly so. */
const FILE_INDENT = 3;

/** Remembers a line for those that follow. */
export function remember(lane: Lane, row: Row, kind: Kind): void {
  lane.ring.push(row);
  if (lane.ring.length > RING) lane.ring.shift();
  if (kind.file && row.indent <= FILE_INDENT) lane.file = row;
  if (kind.where) lane.step = row;
  lane.since += 1;
  if (lane.since > NAME_REACH) lane.test = undefined;
}

/** Lines that a candidate takes at most, and lines of one stack trace that are followed. */
const AFTER = 24;
const TRACE = 400;
const CAUSES = 4;

/** Lets a candidate take the lines that follow it. */
export function openCandidate(lane: Lane, candidate: Candidate): void {
  lane.open.push({ candidate, rows: 0, trace: true });
}

/** Gives the line to every candidate that still takes lines. */
export function feed(lane: Lane, row: Row): void {
  if (lane.open.length === 0) return;
  const isCause = marks.isCause(row.trimmed);
  const isTrace = isCause || marks.isFrame(row.trimmed) || row.indent > 0;
  for (const open of lane.open) {
    open.rows += 1;
    const { after, causes } = open.candidate;
    if (!isTrace) open.trace = false;
    if (open.trace && isCause) {
      // The first cause and the deepest ones.
      if (causes.length >= CAUSES) causes.splice(1, 1);
      causes.push(keep(row));
    } else if (after.length < AFTER && !(after.length > 8 && marks.isForeign(row.trimmed))) {
      after.push(keep(row));
    }
  }
  lane.open = lane.open.filter(
    (open) => open.rows < TRACE && (open.trace || open.candidate.after.length < AFTER),
  );
}

/** Follows Python tracebacks; true when this line is the exception that ends one. */
export function followTraceback(lane: Lane, row: Row): boolean {
  const { trimmed } = row;
  const start = trimmed.indexOf('Traceback (most recent call last)');
  if (start >= 0) {
    lane.traceback = { base: start > 0 ? 0 : row.indent, frame: undefined, own: false };
    return false;
  }
  const trace = lane.traceback;
  if (trace === null) return false;
  if (trimmed.startsWith('File "')) {
    const own = !marks.isForeign(trimmed);
    if (own || !trace.own) {
      trace.frame = row;
      trace.own = own;
    }
    return false;
  }
  return row.indent <= trace.base;
}

const ANNOUNCED = rule('announced', 'error', 70, /\S/);

/** The match of a line; that of the message which an announcement waits for is raised to its score. */
export function takeAnnounced(lane: Lane, row: Row, match: Match | null): Match | null {
  const { announcer } = lane;
  if (announcer === null || match?.rule.use === 'announce' || match?.rule.use === 'wrapper')
    return match;
  const { trimmed } = row;
  if (marks.isCode(trimmed) || marks.isPlace(trimmed) || marks.isPassing(trimmed)) return match;
  if (marks.isFrame(trimmed) || marks.isSummary(trimmed)) return match;
  lane.announcer = null;
  const { score } = announcer;
  if (match !== null && match.score >= score) return match;
  return { rule: match?.rule.use === 'cause' ? match.rule : ANNOUNCED, score };
}
