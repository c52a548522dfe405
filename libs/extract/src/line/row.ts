/** One line of a log, and a line that may tell the cause, with what stands around it. */
import type { Rule } from '../rules/rule.ts';
import type { Severity } from './severity.ts';

/** One line, and the forms in which it is looked at. */
export interface Row {
  /** Its place among the lines without prefixes, from 1; a record of the log may hold several. */
  readonly line: number;
  /** Number of its line in the log, from 1. */
  readonly at: number;
  /** The line of the log without escapes. */
  readonly text: string;
  readonly speaker: string;
  /** The level at which it was logged, if the log has several. */
  readonly level: Severity;
  /** The line as the program printed it. */
  readonly body: string;
  /** The same, trimmed. */
  readonly whole: string;
  /** The same without `npm error` or the bar of a box, which tools put before every line. */
  readonly trimmed: string;
  /** Width of the indent of `trimmed`. */
  readonly indent: number;
  readonly shape: Shape;
  /** Whether a blank line of the same speaker stands before it. */
  readonly gap: boolean;
}

/** What is known of the lines with one key. */
export interface Shape {
  readonly key: number;
  /** How many there were. */
  seen: number;
  /** How many of them looked like a cause. */
  offered: number;
  /** What each of them is, unless their numbers matter. */
  kind: Kind | undefined;
}

/** The rule that a line fits, and what it is worth there. */
export interface Match {
  readonly rule: Rule;
  /** The rule's score, moved by the line's label and by what plays it down. */
  readonly score: number;
}

/** What a line is, as far as rules and marks tell. */
export interface Kind {
  readonly match: Match | null;
  readonly step: boolean;
  readonly where: boolean;
  readonly file: boolean;
}

/** A line that may tell the cause. */
export interface Candidate extends Match {
  readonly row: Row;
  /** How many steps the log had begun before this line. */
  readonly epoch: number;
  /** Number of the job, in a log of several. */
  readonly job: number;
  /** Up to six lines of the stream before it, nearest last. */
  readonly before: readonly Row[];
  /** Lines of the stream after it, up to the number that may belong to it. */
  readonly after: Row[];
  /** The deepest cause further down its stack trace. */
  cause?: Row;
  /** The lines that say where it happened: announcement, file, step. */
  readonly around: Around;
}

/** Lines above a candidate that say where it happened. */
export interface Around {
  readonly announcer?: Row | undefined;
  readonly file?: Row | undefined;
  readonly step?: Row | undefined;
  /** Of a traceback: the last frame in the app's own code. */
  readonly frame?: Row | undefined;
  /** The line of source at that frame, of an exception without a message. */
  readonly source?: Row | undefined;
}
