/** What is remembered of one speaker's lines while reading on: bounded, and reset by steps. */
import { marks } from '../line/marks.ts';
import type { Candidate, Kind, Match, Row } from '../line/row.ts';
import { ANNOUNCED } from '../rules/labels.ts';

/** Lines remembered before a candidate. */
const RING = 6;

/** What is remembered of the lines of one speaker. */
export class Stream {
  readonly ring: Row[] = [];
  /** Candidates that still take following lines, with what they may still take. */
  open: { candidate: Candidate; rows: number; trace: boolean; said: number }[] = [];
  gap = false;
  /** The line that announced an error, until its message comes. */
  announcer: { row: Row; score: number } | null = null;
  file: Row | undefined;
  step: Row | undefined;
  /** A Python traceback that has not yet come to its exception, with the frame to show. */
  traceback: { base: number; frame?: Row | undefined; source?: Row } | null = null;
  /** Inside a drawn exception group. */
  grouped = false;
}

/** Remembers a line for those that follow. */
export function remember(stream: Stream, row: Row, kind: Kind): void {
  stream.ring.push(row);
  if (stream.ring.length > RING) stream.ring.shift();
  if (kind.file) stream.file = row;
  if (kind.where) stream.step = row;
}

/** Lines that a candidate takes at most, and lines of one stack trace that are followed. */
const AFTER = 24;
const TRACE = 400;
/** Lines at the margin that the message of a cause may have. */
const SAID = 12;

/** Gives the line to every candidate that still takes lines. */
export function feed(stream: Stream, row: Row): void {
  if (stream.open.length === 0) return;
  const isCause = marks.cause.test(row.trimmed);
  const isTrace = isCause || row.indent > 0 || marks.frame.test(row.trimmed);
  for (const open of stream.open) {
    const { candidate } = open;
    open.rows += 1;
    open.said = isTrace ? 0 : open.said + 1;
    if (open.said > (candidate.cause ? SAID : 0)) open.trace = false;
    if (open.trace && isCause) candidate.cause = row;
    else if (candidate.after.length < AFTER) candidate.after.push(row);
  }
  stream.open = stream.open.filter(
    (open) => open.rows < TRACE && (open.trace || open.candidate.after.length < AFTER),
  );
}

/** The match of a line; that of the message which an announcement waits for is raised to its score. */
export function takeAnnounced(stream: Stream, row: Row, match: Match | null): Match | null {
  const { announcer } = stream;
  if (announcer === null || match?.rule.use === 'announce') return match;
  if (APART.some((mark) => mark.test(row.trimmed))) return match;
  stream.announcer = null;
  const { score } = announcer;
  return match !== null && match.score >= score ? match : { rule: ANNOUNCED, score };
}

/** Lines that stand between an announcement and its message. */
const APART = [marks.code, marks.frame, marks.passing, marks.place, marks.summary];

/** Streams followed at a time; the oldest makes room for a new one. */
const STREAMS = 64;

/** The streams of one log, by speaker. */
export function createStreams(): (name: string) => Stream {
  const streams = new Map<string, Stream>();
  return (name) => {
    let stream = streams.get(name);
    if (stream !== undefined) return stream;
    stream = new Stream();
    const oldest = streams.keys().next().value;
    if (streams.size >= STREAMS && oldest !== undefined) streams.delete(oldest);
    streams.set(name, stream);
    return stream;
  };
}
