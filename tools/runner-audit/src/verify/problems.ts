/** Problems that `verify` finds. */

export type ProblemKind =
  | 'not_json'
  | 'not_event'
  | 'time_order'
  | 'duplicate_id'
  | 'other_app'
  | 'event_order'
  | 'no_start'
  | 'no_end'
  | 'file_damaged'
  | 'record_missing'
  | 'record_changed'
  | 'record_order'
  | 'line_inserted'
  | 'unchained'
  | 'anchor';

export interface LogProblem {
  /** Name of the file in `logs/`. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly problem: ProblemKind;
  readonly message: string;
}

/** A line of the log: the number of its file (the oldest is 0) and its own (from 1). */
export interface LinePosition {
  readonly file: number;
  readonly line: number;
}

export type ReportProblem = (problem: ProblemKind, message: string, place: LinePosition) => void;

/** Problems of the chain. */
const CHAIN: readonly ProblemKind[] = [
  'record_missing',
  'record_changed',
  'record_order',
  'line_inserted',
  'unchained',
  'anchor',
];

/** Problems beyond this are counted, not kept. */
const PROBLEMS_MAX = 1000;

/** Bounded because another writer may have written any text, in characters. */
const TEXT_MAX = 80;

export function short(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text;
}

/** Counts all problems and keeps the first. */
export class Problems {
  readonly #files: readonly string[];
  /** Problems of the chain, and the others. */
  readonly #kept: readonly [LogProblem[], LogProblem[]] = [[], []];
  count = 0;

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  add(problem: ProblemKind, message: string, { file, line }: LinePosition): void {
    this.count += 1;
    const kept = this.#kept[CHAIN.includes(problem) ? 0 : 1];
    if (kept.length >= PROBLEMS_MAX) return;
    kept.push({ file: this.#files[file] as string, line, problem, message });
  }

  /** Problems of the chain first, since they may cause the others; each group in the order of the log. */
  inOrder(): readonly LogProblem[] {
    const place = ({ file, line }: LogProblem) => this.#files.indexOf(file) * 2 ** 32 + line;
    const sorted = this.#kept.map((kept) => kept.sort((a, b) => place(a) - place(b)));
    return sorted.flat().slice(0, PROBLEMS_MAX);
  }
}
