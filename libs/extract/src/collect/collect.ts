/** Reads a log once and keeps, in bounded memory, the lines that may be the cause. */
import { kindOf } from '../line/classify.ts';
import type { Around, Candidate, Kind, Match, Row } from '../line/row.ts';
import { createShapes, shapeKey } from '../line/shape.ts';
import type { ProgramLine } from '../prefix/remover.ts';
import { TRACED } from '../rules/labels.ts';
import { KeptLines } from './kept.ts';
import { createStreams, feed, remember, type Stream, takeAnnounced } from './stream.ts';
import { endTraceback, isAttached, thrownAbove } from './traces.ts';

/** The score of a cause that is shown with the message above it. */
const ATTACHED = 50;
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
  readonly #kept = new KeptLines();
  #streamOf = createStreams();
  readonly #speakers = new Set<string>();
  #line = 0;
  #bare: Row | undefined;
  #epoch = 0;
  #job = '';
  #jobs = 0;
  #replayed = false;
  /** Where a CI runner begins to print a script, before it runs it. */
  #script = -SCRIPT;

  add(spoken: ProgramLine): void {
    const { text, speaker, level, overwritten } = spoken;
    this.#line += 1;
    this.#replayed = REPLAY.test(spoken.body) || (this.#replayed && !RULE.test(spoken.body));
    const body = this.#replayed ? spoken.body.replace(SECONDS, '') : spoken.body;
    if (this.#speakers.size < 2) this.#speakers.add(speaker);
    const job = spoken.job === '' ? '' : (spoken.job.split('\t', 1)[0] ?? '');
    if (job !== this.#job) {
      this.#job = job;
      this.#jobs += 1;
      this.#streamOf = createStreams();
    }
    const stream = this.#streamOf(spoken.job + speaker);
    stream.grouped = (stream.grouped && GROUPED.test(body)) || GROUP.test(body);
    const quoted = body.replace(stream.grouped ? GROUPED : QUOTED, '');
    const branch = BRANCH.exec(quoted)?.[0] ?? '';
    const inner = ' '.repeat(branch.length) + quoted.slice(branch.length);
    const trimmed = inner.trim();
    const whole = body.trim();
    const shape = this.#shapeOf(level === '' ? shapeKey(whole) : shapeKey(level + whole));
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
      indent: inner.length - inner.trimStart().length,
      shape,
      gap: stream.gap,
    };
    if (trimmed === '') {
      if (!overwritten) stream.gap = true;
      // A log of nothing but prefixes still has something to show.
      if (text.trim() !== '')
        this.#bare ??= { ...row, speaker: '', body: text, whole: text, trimmed: text };
      return;
    }
    const kind = kindOf(row);
    if (!overwritten) this.#take(row, kind, stream);
    else if (kind.match !== null && kind.match.score >= SURE)
      this.#offer(kind.match, row, stream, {});
  }

  finish(): Collected {
    const { last } = this.#kept;
    return {
      candidates: this.#kept.candidates(),
      rare: this.#kept.rare(),
      several: this.#speakers.size > 1,
      lastRows: last.length === 0 && this.#bare !== undefined ? [this.#bare] : last,
    };
  }

  #take(row: Row, kind: Kind, stream: Stream): void {
    stream.gap = false;
    this.#kept.addLast(row);
    if (kind.step) this.#epoch += 1;
    if (row.trimmed === '##[endgroup]' && row.line - this.#script < SCRIPT) {
      this.#kept.forget(this.#script);
      this.#streamOf = createStreams();
      return;
    }
    if (row.trimmed.startsWith('##['))
      this.#script = row.trimmed.startsWith('##[group]Run ') ? row.line : -SCRIPT;
    this.#kept.add(row);
    feed(stream, row);
    this.#weigh(row, stream, kind.match);
    remember(stream, row, kind);
  }

  #weigh(row: Row, stream: Stream, own: Match | null): void {
    const thrown = thrownAbove(stream, row);
    if (thrown)
      this.#offer({ rule: TRACED, score: TRACED.score }, thrown, stream, { after: [row] });
    const { match: found, extra } = endTraceback(stream, row, own);
    const announcer = stream.announcer?.row;
    const match = takeAnnounced(stream, row, found);
    if (match === null) return;
    const { rule } = match;
    const score = isAttached(stream, row) ? Math.min(match.score, ATTACHED) : match.score;
    const announced = stream.announcer === null ? announcer : undefined;
    this.#offer({ rule, score }, row, stream, { ...extra, announcer: announced });
    if (rule.use === 'announce') stream.announcer = { row, score };
  }

  #offer(match: Match, row: Row, stream: Stream, more: Around & { after?: Row[] }): void {
    const { rule, score } = match;
    const { after = [], ...around } = more;
    if (rule.use === 'wrapper') this.#kept.markEnd();
    const candidate: Candidate = {
      rule,
      score,
      row,
      epoch: this.#epoch,
      job: this.#jobs,
      before: stream.ring.filter(({ line }) => line < row.line),
      after,
      around: { file: stream.file, step: stream.step, ...around },
    };
    stream.open.push({ candidate, rows: 0, trace: true, said: 0 });
    this.#kept.offer(candidate);
  }
}
