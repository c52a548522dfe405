/** What is known while reading the lines below a candidate. */
import type { Candidate, Row } from '../line/row.ts';
import type { ErrorClass } from '../rules/rule.ts';

/** A line to show. Need 0: required; 1: shown if there is room; 2: shown if there is plenty. */
export interface Pick {
  readonly row: Row;
  readonly need: 0 | 1 | 2;
}

/** Most rows of each sort in one block. */
export const MOST = { detail: 6, code: 3, text: 6, place: 2, field: 4 } as const;
type Sort = keyof typeof MOST;

/** What to do with a line: end the block, skip it or show it. */
export type Decision = 'stop' | 'skip' | { readonly sort: Sort; readonly need: Pick['need'] };

/** The state between two lines. */
export interface Reading {
  readonly candidate: Candidate;
  /** A failing test: any line up to the next test may hold what it expected. */
  readonly test: boolean;
  /** A crash prints its stack after other lines; a compiler's next message is another error. */
  readonly dies: boolean;
  /** The previous line broke off inside a sentence. */
  wraps: boolean;
  /** The previous line needs a continuation. */
  open: boolean;
  /** Inside a list, which ends at the next blank line. */
  listing: boolean;
  frames: boolean;
  code: boolean;
  /** No blank line has come yet. */
  joined: boolean;
  readonly taken: Record<Sort, number>;
}

/** Classes whose message comes before a stack trace. */
const DIES: ReadonlySet<ErrorClass> = new Set(['exception', 'crash']);
const EXCEPTION = /^(?:[\w$]{1,80}[.:\\]{1,2}){0,12}[A-Z]\w{0,80}(?:Error|Exception)\b/;

/** Announces a list: `3 errors`. */
const COUNTED = /\b\d{1,4} (?:validation )?(?:errors?|problems?|issues?|violations?)\b.{0,80}$/;

/** The state after the candidate's own line. */
export function startReading(candidate: Candidate): Reading {
  const { row: head, rule, around } = candidate;
  const test = rule.class === 'test' || around.test !== undefined;
  const open = isOpen(head.trimmed) || COUNTED.test(head.trimmed);
  return {
    candidate,
    test,
    dies: test || DIES.has(rule.class) || EXCEPTION.test(head.trimmed),
    wraps: false,
    open,
    listing: open,
    frames: false,
    code: false,
    joined: true,
    taken: { detail: 0, code: 0, text: 0, place: 0, field: 0 },
  };
}

/** Whether the line needs a continuation. */
export function isOpen(text: string): boolean {
  return /[:,({[]$|\b(?:is|are|the|a|of|to|by|because|from|in|and|or|that)$/.test(text);
}

/** A few plain words without a name, number, path or quotation. */
export const NAMES_NOTHING =
  /^(?:\w{1,12}: )?[A-Z]?[a-z'-]{1,20}(?: (?:[a-z'-]{1,20}|[A-Z]{2,5})){1,6}[.!]?$/;
