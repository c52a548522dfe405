/** What is remembered of one speaker's lines while reading on: bounded, and reset by steps. */
import { marks } from '../line/marks.ts';
import type { Candidate, Kind, Match, Row } from '../line/row.ts';
import { severityOfRow } from '../line/severity.ts';
import { ANNOUNCED } from '../rules/labels.ts';

/** Lines remembered before a candidate, and lines that a test's or file's name reaches. */
const RING = 6;
const NAME_REACH = 60;

/** What is remembered of the lines of one speaker. */
export class Stream {
  readonly ring: Row[] = [];
  /** Candidates that still take following lines, with what they may still take. */
  open: { candidate: Candidate; rows: number; trace: boolean; said: number }[] = [];
  gap = false;
  /** The line that announced an error, until its message comes. */
  announcer: { row: Row; score: number } | null = null;
  test: Row | undefined;
  file: Row | undefined;
  step: Row | undefined;
  traceback: Traceback | null = null;
  /** The exceptions of chained tracebacks, each after its frame; whether the next one follows. */
  raised: Row[] = [];
  chained = false;
  captured: { indent: number; toBlank: boolean } | null = null;
  /** Inside a drawn exception group. */
  grouped = false;
  /** The last line was a message, or part of a traceback. */
  explained = false;
  since = 0;
}

/** A Python traceback that has not yet come to its exception. */
interface Traceback {
  readonly base: number;
  /** The frame to show, how near it is to the app's own code, and the source under it. */
  frame: Row | undefined;
  near: number;
  source: Row | undefined;
}

/** A file's name stands at the margin, or nearly so. */
const FILE_INDENT = 3;

/** Remembers a line for those that follow. */
export function remember(stream: Stream, row: Row, kind: Kind): void {
  stream.ring.push(row);
  if (stream.ring.length > RING) stream.ring.shift();
  if (kind.file && row.indent <= FILE_INDENT) stream.file = row;
  if (kind.where) stream.step = row;
  stream.since += 1;
  if (stream.since > NAME_REACH) stream.test = undefined;
}

/** Lines that a candidate takes at most, and lines of one stack trace that are followed. */
const AFTER = 24;
const TRACE = 400;
const CAUSES = 4;
/** Lines at the margin that the message of a cause may have. */
const SAID = 12;

/** Lets a candidate take the lines that follow it. */
export function openCandidate(stream: Stream, candidate: Candidate): void {
  stream.open.push({ candidate, rows: 0, trace: true, said: 0 });
}

/** Gives the line to every candidate that still takes lines. */
export function feed(stream: Stream, row: Row): void {
  if (stream.open.length === 0) return;
  const isCause = marks.cause.test(row.trimmed);
  const isFrame = marks.frame.test(row.trimmed);
  const isTrace = isCause || isFrame || row.indent > 0;
  let isForeign: boolean | undefined;
  for (const open of stream.open) {
    open.rows += 1;
    const { after, causes } = open.candidate;
    open.said = isTrace ? 0 : open.said + 1;
    if (open.said > (causes.length > 0 ? SAID : 0)) open.trace = false;
    if (open.trace && isCause) {
      // The first cause and the deepest ones.
      if (causes.length >= CAUSES) causes.splice(1, 1);
      causes.push(row);
    } else if (open.trace && !isFrame && isBelow(row, causes.at(-1))) {
      causes.push(row);
    } else if (after.length < AFTER) {
      if (after.length > 8) isForeign ??= marks.foreign.test(row.trimmed);
      if (after.length <= 8 || !isForeign) after.push(row);
    }
  }
  stream.open = stream.open.filter(
    (open) => open.rows < TRACE && (open.trace || open.candidate.after.length < AFTER),
  );
}

/** Whether the row is the next line, and deeper. */
function isBelow({ line, indent }: Row, above: Row | undefined): boolean {
  return above !== undefined && line === above.line + 1 && indent > above.indent;
}

/** Follows Python tracebacks; true when this line is the exception that ends one. */
export function followTraceback(stream: Stream, row: Row): boolean {
  const { trimmed } = row;
  const start = trimmed.indexOf('Traceback (most recent call last)');
  // A line of JSON holds all of it.
  if (start > 0 && trimmed.startsWith('{')) return false;
  if (start >= 0) {
    const base = start > 0 ? 0 : row.indent;
    stream.traceback = { base, frame: undefined, near: 0, source: undefined };
    return false;
  }
  const trace = stream.traceback;
  if (trace === null) return false;
  if (trimmed.startsWith('File "')) {
    const near = nearness(trimmed);
    if (near >= trace.near) {
      trace.frame = row;
      trace.near = near;
      trace.source = undefined;
    }
    return false;
  }
  if (stream.ring.at(-1) === trace.frame && row.indent > trace.base) trace.source = row;
  if (row.indent > trace.base || RAISES.test(trimmed)) return row.indent <= trace.base;
  if (row.gap) stream.traceback = null;
  return false;
}

/** Neither drawn, nor the rest of a wrapped frame, nor another program's line. */
const RAISES = /^(?!File\b|line \d|(?:INFO|DEBUG|WARN(?:ING)?)\b)[\p{L}_][\p{L}\p{N}_.]*(?::|$)/u;

/** 3: the app's own code, 2: code without a file, 1: a library. */
function nearness(frame: string): number {
  if (/^File "<(?!frozen)/.test(frame)) return 2;
  return marks.foreign.test(frame) ? 1 : 3;
}

/** The match of a line; that of the message which an announcement waits for is raised to its score. */
export function takeAnnounced(stream: Stream, row: Row, match: Match | null): Match | null {
  const { announcer } = stream;
  const { trimmed } = row;
  if (announcer === null || match?.rule.use === 'announce') return match;
  if (match?.rule.use === 'wrapper') return match;
  const listed = marks.fileHeader.test(trimmed) && LISTS_FILES.test(announcer.row.trimmed);
  if (
    !listed &&
    (APART.some((mark) => mark.test(trimmed)) || (match === null && !isSentence(trimmed)))
  )
    return match;
  stream.announcer = null;
  if (severityOfRow(row) === 'warning') return match;
  // Below a blank line and at the margin something else begins.
  if (row.gap && row.indent === 0 && announcer.row.indent > 0) return match;
  const { score } = announcer;
  if (match !== null && match.score >= score) return match;
  const sure = match?.rule.use === 'cause' && !match.rule.weak;
  return { rule: sure ? match.rule : ANNOUNCED, score };
}

/** Lines that stand between an announcement and its message. */
const APART = [
  marks.code,
  marks.fileHeader,
  marks.frame,
  marks.passing,
  marks.place,
  marks.summary,
];

function isSentence(text: string): boolean {
  return / .*\p{Ll}/u.test(text);
}

/** Announces names of files. */
const LISTS_FILES = /\bfiles\b.{0,60}:$/i;

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
