/** What `verify` finds, where it found it, and how it is told. */

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
  | 'file_damaged';

/** A line that is not as it should be. */
export interface Problem {
  /** Name of the file in `logs/`. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly problem: ProblemKind;
  readonly message: string;
}

/** Where a reading of the log is: the file by its number, the oldest is 0, and the line. */
export interface Place {
  readonly file: number;
  readonly line: number;
}

/** More are counted and not kept. */
const PROBLEMS_MAX = 1000;

/** A foreign writer may write anything, and a thousand messages are kept. */
export const SHOWN_MAX = 80;

/** A text of a record as a message shows it. */
export function shown(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text;
}

/** The problems of one log: all are counted, a thousand kept. */
export class Problems {
  readonly #files: readonly string[];
  readonly #kept: Problem[] = [];
  count = 0;

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  add(problem: ProblemKind, message: string, { file, line }: Place): void {
    this.count += 1;
    if (this.#kept.length >= PROBLEMS_MAX) return;
    this.#kept.push({ file: this.#files[file] as string, line, problem, message });
  }

  /** Those that were kept, in the order of the log. */
  inOrder(): readonly Problem[] {
    const place = ({ file, line }: Problem) => this.#files.indexOf(file) * 2 ** 32 + line;
    return this.#kept.sort((a, b) => place(a) - place(b));
  }
}
