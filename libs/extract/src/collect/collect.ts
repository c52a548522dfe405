/** Reads a log once and keeps, in bounded memory, the lines that may be the cause. */
import { kindOf } from '../line/classify.ts';
import type { Around, Candidate, Kind, Match, Row } from '../line/row.ts';
import { createShapes, shapeKey } from '../line/shape.ts';
import type { ProgramLine } from '../prefix/remover.ts';
import { endTraceback, isAttached, isSource, SAYS_MORE, thrownAbove } from './exceptions.ts';
import { RareLines } from './rare.ts';
import { createShortlist } from './shortlist.ts';
import {
  createStreams,
  feed,
  openCandidate,
  remember,
  type Stream,
  takeAnnounced,
} from './stream.ts';

/** What a test runner captured counts this much less. */
const CAPTURED = 40;
/** The score of a cause that is shown with the message above it. */
const ATTACHED = 50;
/** From this score a line means that something failed. */
const FAILED = 62;
/** The score that an overwritten line needs. */
const SURE = 80;

/** What npm and boxes put before every line of a message. */
const QUOTED = /^(?:npm (?:error|ERR!)|[│┃]|!!|\|(?!.*\|$)|\[(?:error|ERROR)\])(?= |$)/;
/** What Python puts before the lines of an exception group. */
const GROUP = /^\s*\+ Exception Group Traceback/;
const GROUPED = /^\s{0,60}(?:\| ?|\+(?=-))/;

/** A builder repeats what a failed step printed, with the seconds before each line. */
const REPLAY = /^\s?> \[.{1,200}\] .{1,400}:$/;
const RULE = /^-{6,}$/;
const SECONDS = /^\d{1,5}\.\d{1,4}(?: |$)/;

/** What trees draw before a branch. */
const BRANCH = /^[│ ]{0,20}[├└]─{1,3} (?=\S)/;

/** Lines of a script that a CI runner prints, at most. */
const SCRIPT = 100;

/** What is kept of a log: bounded, whatever its length. */
export interface Collected {
  readonly candidates: readonly Candidate[];
  /** The last lines whose shape was rare when they came. */
  readonly rare: readonly Row[];
  /** Whether several programs speak. */
  readonly several: boolean;
  /** The last lines that are not blank, the very last one at the end. */
  readonly lastRows: readonly Row[];
}

/** Takes the lines of one log in their order. */
export class Collector {
  readonly #shapeOf = createShapes();
  readonly #shortlist = createShortlist();
  readonly #lines = new RareLines();
  #streamOf = createStreams();
  readonly #speakers = new Set<string>();
  #line = 0;
  #bare: Row | undefined;
  #epoch = 0;
  #aftermath = false;
  /** Until something failed, cleaning up only makes room. */
  #failed = false;
  #job = '';
  #replayed = false;
  #jobs = 0;
  #script: { row: Row; kind: Kind; stream: Stream }[] = [];

  add(spoken: ProgramLine): void {
    const { text, speaker, level, overwritten } = spoken;
    this.#line += 1;
    this.#replayed = REPLAY.test(spoken.body) || (this.#replayed && !RULE.test(spoken.body));
    const body = this.#replayed ? spoken.body.replace(SECONDS, '') : spoken.body;
    if (this.#speakers.size < 2) this.#speakers.add(speaker);
    const job = spoken.job === '' ? '' : (spoken.job.split('\t', 1)[0] ?? '');
    if (job !== this.#job) this.#nextJob(job);
    const stream = this.#streamOf(spoken.job + speaker);
    stream.grouped = (stream.grouped && GROUPED.test(body)) || GROUP.test(body);
    const quoted = body.replace(stream.grouped ? GROUPED : QUOTED, '');
    const branch = BRANCH.exec(quoted)?.[0] ?? '';
    const inner = ' '.repeat(branch.length) + quoted.slice(branch.length);
    const trimmed = inner.trim();
    const whole = body.trim();
    const key = level === '' ? shapeKey(whole) : shapeKey(level + whole);
    const shape = this.#shapeOf(key);
    if (this.#replayed && shape.seen > 0) return;
    const row: Row = {
      line: this.#line,
      at: spoken.line,
      text,
      speaker,
      level,
      body,
      whole,
      trimmed,
      key,
      indent: inner.length - inner.trimStart().length,
      shape,
      gap: stream.gap,
    };
    if (trimmed === '') {
      addBlank(stream, overwritten);
      // A log of nothing but prefixes still has something to show.
      if (text.trim() !== '')
        this.#bare ??= { ...row, speaker: '', body: text, whole: text, trimmed: text };
      return;
    }
    const kind = kindOf(row);
    const { match } = kind;
    if (!overwritten) this.#take(row, kind, stream);
    else if (match !== null && match.score >= SURE) this.#offer(match, row, stream, {});
  }

  finish(): Collected {
    this.#readScript();
    const last = this.#lines.last();
    return {
      candidates: this.#shortlist.all(),
      rare: this.#lines.rare(),
      several: this.#speakers.size > 1,
      lastRows: last.length === 0 && this.#bare !== undefined ? [this.#bare] : last,
    };
  }

  #nextJob(name: string): void {
    this.#readScript();
    this.#job = name;
    this.#jobs += 1;
    this.#streamOf = createStreams();
    this.#aftermath = false;
    this.#failed = false;
  }

  #take(row: Row, kind: Kind, stream: Stream): void {
    stream.gap = false;
    this.#lines.addLast(row);
    if (kind.aftermath && (this.#failed || row.trimmed.startsWith('Post job cleanup')))
      this.#aftermath = true;
    if (kind.step) this.#epoch += 1;
    if (!this.#isPrinted(row, kind, stream)) this.#read(row, kind, stream);
  }

  /** Whether the line may be of a script that a CI runner prints before it runs it. */
  #isPrinted(row: Row, kind: Kind, stream: Stream): boolean {
    const { trimmed } = row;
    const begins = trimmed.startsWith('##[group]Run ');
    const goesOn =
      this.#script.length > 0 && this.#script.length < SCRIPT && !/^##\[/.test(trimmed);
    if (trimmed === '##[endgroup]') this.#script = [];
    else if (!goesOn) this.#readScript();
    if (begins || goesOn) this.#script.push({ row, kind, stream });
    return begins || goesOn;
  }

  /** Reads lines that turn out to be output, as their group did not end. */
  #readScript(): void {
    const [, ...lines] = this.#script;
    this.#script = [];
    for (const { row, kind, stream } of lines) this.#read(row, kind, stream);
  }

  #read(row: Row, kind: Kind, stream: Stream): void {
    this.#lines.add(row, isSource(stream, row));
    feed(stream, row);
    endCaptured(stream, row.indent);
    this.#weigh(row, stream, kind.match);
    if (kind.begins) beginTest(stream, row);
    if (kind.captured) {
      stream.captured = { indent: row.indent, toBlank: /^std(?:err|out) \|/.test(row.trimmed) };
    }
    stream.explained =
      (kind.match?.score ?? 0) >= SAYS_MORE ||
      kind.match?.rule.use === 'wrapper' ||
      stream.traceback !== null;
    remember(stream, row, kind);
  }

  #weigh(row: Row, stream: Stream, own: Match | null): void {
    const thrown = thrownAbove(stream, row);
    if (thrown !== null) this.#offer(thrown.match, thrown.row, stream, { after: [row] });
    const { match: found, extra } = endTraceback(stream, row, own);
    const announcer = stream.announcer?.row;
    const match = takeAnnounced(stream, row, found);
    if (match === null) return;
    let { score } = match;
    if (stream.captured !== null) score -= CAPTURED;
    if (isAttached(stream, row)) score = Math.min(score, ATTACHED);
    const announced = stream.announcer === null ? announcer : undefined;
    this.#offer({ rule: match.rule, score }, row, stream, { ...extra, announcer: announced });
    if (match.rule.use === 'announce') stream.announcer = { row, score: match.score };
    if (match.rule.use === 'test') beginTest(stream, row);
  }

  #offer(match: Match, row: Row, stream: Stream, more: Around & { after?: Row[] }): void {
    const { rule, score } = match;
    const { after = [], ...extra } = more;
    if (rule.use === 'wrapper' && !this.#aftermath) this.#lines.markEnd();
    this.#failed ||= score >= FAILED || rule.use === 'wrapper';
    this.#shortlist.offer(row, { rule, epoch: this.#epoch }, () => {
      const candidate: Candidate = {
        rule,
        score,
        row,
        epoch: this.#epoch,
        job: this.#jobs,
        before: stream.ring.filter(({ line }) => line < row.line),
        after,
        causes: [],
        around: {
          test: stream.test,
          file: stream.file,
          step: stream.step,
          ...extra,
        },
      };
      openCandidate(stream, candidate);
      return candidate;
    });
  }
}

function addBlank(stream: Stream, overwritten: boolean): void {
  if (!overwritten) stream.gap = true;
  if (stream.captured?.toBlank === true) stream.captured = null;
}

function beginTest(stream: Stream, row: Row): void {
  stream.test = row;
  stream.since = 0;
}

function endCaptured(stream: Stream, indent: number): void {
  const { captured } = stream;
  if (captured !== null && !captured.toBlank && indent <= captured.indent) stream.captured = null;
}
