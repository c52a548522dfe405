/** What a rule is. The table is `rules.ts`; it is tried from its top, and the first match counts. */

/** What kind of trouble a rule tells; `Extraction.class` is one of these. */
export type ErrorClass =
  | 'compile'
  | 'link'
  | 'lint'
  | 'syntax'
  | 'test'
  | 'exception'
  | 'module'
  | 'package'
  | 'config'
  | 'database'
  | 'network'
  | 'access'
  | 'git'
  | 'disk'
  | 'memory'
  | 'killed'
  | 'crash'
  | 'timeout'
  | 'file'
  | 'command'
  | 'error'
  | 'exit'
  | 'silent';

/** How a rule's line is used. */
export type RuleUse =
  /** The line tells the cause. */
  | 'cause'
  /** The line names a failing test; what it expected follows. */
  | 'test'
  /** The line only announces: the next line of its lane tells the cause. */
  | 'announce'
  /** The line only passes on that something below it failed: shown when nothing says why. */
  | 'wrapper';

/** One row of the table: what lines it is about, and what they are worth. */
export interface Rule {
  /** Unique, for `--json` and for whoever extends the table. */
  readonly name: string;
  readonly class: ErrorClass;
  readonly use: RuleUse;
  /**
   * What it is tested against: the line without speaker and time (`line`), also without `[ERROR]`,
   * `npm error`, `✘` and box drawing (`body`), also without `error:` and other words (`message`).
   */
  readonly on: 'message' | 'body' | 'line';
  /**
   * Words divided by `|`, in lower case, `#` for a digit, `^` in front for the start of the line.
   * Every line that the pattern matches holds one of them.
   */
  readonly triggers: string;
  /**
   * Anchored where it can be; no repetition without an upper bound, because it sees lines of 2000
   * characters.
   */
  readonly pattern: RegExp;
  /** 0 to 100. 90: certainly a cause. 60: a phrase of failure. Below 40: a consequence. */
  readonly score: number;
  /** Of several matches in one step the first tells the cause (compilers) or the last (crashes). */
  readonly pick: 'first' | 'last';
  /** A phrase that also occurs in harmless lines: not trusted in progress and information lines. */
  readonly weak: boolean;
}

type Options = Partial<Pick<Rule, 'use' | 'on' | 'pick' | 'weak'>>;

/** A row of the table. Without options: a cause, on the message, the first of its kind, trusted. */
export function rule(
  name: string,
  kind: ErrorClass,
  score: number,
  triggers: string,
  pattern: RegExp,
  options: Options = {},
): Rule {
  return {
    name,
    class: kind,
    score,
    triggers,
    pattern,
    use: options.use ?? 'cause',
    on: options.on ?? 'message',
    pick: options.pick ?? 'first',
    weak: options.weak ?? false,
  };
}
