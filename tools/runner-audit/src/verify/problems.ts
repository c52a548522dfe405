/** What `verify` finds, and where. */

/** What can be wrong with a log. */
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

/** A line that is not as it should be. */
export interface Problem {
  /** Name of the file in `logs/`. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly problem: ProblemKind;
  readonly message: string;
}

/** A line of the log: the number of its file (the oldest is 0) and its own (from 1). */
export interface Place {
  readonly file: number;
  readonly line: number;
}

/** Takes a problem. */
export type Report = (problem: ProblemKind, message: string, place: Place) => void;

/** What the chain shows. */
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

/** A foreign writer may write anything, and many texts are kept. */
const TEXT_MAX = 80;

/** A text of a record, shortened. */
export function short(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text;
}

/** The problems of one log: all are counted, the first ones kept. */
export class Problems {
  readonly #files: readonly string[];
  /** Those of the chain, and the others. */
  readonly #kept: readonly [Problem[], Problem[]] = [[], []];
  count = 0;

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  add(problem: ProblemKind, message: string, { file, line }: Place): void {
    this.count += 1;
    const kept = this.#kept[CHAIN.includes(problem) ? 0 : 1];
    if (kept.length >= PROBLEMS_MAX) return;
    kept.push({ file: this.#files[file] as string, line, problem, message });
  }

  /** Those of the chain first, since they may cause the others; each in the order of the log. */
  inOrder(): readonly Problem[] {
    const place = ({ file, line }: Problem) => this.#files.indexOf(file) * 2 ** 32 + line;
    const sorted = this.#kept.map((kept) => kept.sort((a, b) => place(a) - place(b)));
    return sorted.flat().slice(0, PROBLEMS_MAX);
  }
}
