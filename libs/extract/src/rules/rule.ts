/** What a rule is. The table is `table.ts`; of the rules that match, the first one counts. */

/** Kinds of trouble; `Extraction.class` is one of these. */
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
  /** The line is the cause. */
  | 'cause'
  /** The line names a failing test; what it expected follows. */
  | 'test'
  /** The cause is in the next line of the stream. */
  | 'announce'
  /** The line only says that something failed: shown when no line says why. */
  | 'wrapper';

/** One row of the table: which lines it matches, and what they are worth. */
export interface Rule {
  /** Unique; `--json` prints it. */
  readonly name: string;
  readonly class: ErrorClass;
  readonly use: RuleUse;
  /**
   * What it is tested against: the line without speaker and time (`line`), also without `[ERROR]`,
   * `npm error`, `✘` and box drawing (`body`), also without `error:` and other words (`message`).
   */
  readonly on: 'message' | 'body' | 'line';
  /**
   * Any of them may match. Anchored if possible; every repetition has an upper bound, because lines
   * have up to 2000 characters.
   */
  readonly patterns: readonly RegExp[];
  /** 0 to 100. 90: certainly a cause. 60: a phrase of failure. Below 40: a consequence. */
  readonly score: number;
  /** Of several matches in one step, which is the cause: compilers print it first, crashes last. */
  readonly pick: 'first' | 'last';
  /** Harmless lines match too, so it is ignored in progress lines, warnings and information. */
  readonly weak: boolean;
}

/** What a row says of itself; without `use`, `on` and `pick` a cause, on the message, the first. */
type Facts = Pick<Rule, 'name' | 'class' | 'score'> &
  Partial<Pick<Rule, 'use' | 'on' | 'pick' | 'weak'>>;

/** A row of the table. */
export function rule(facts: Facts, ...patterns: RegExp[]): Rule {
  return { use: 'cause', on: 'message', pick: 'first', weak: false, ...facts, patterns };
}

/** Endings of files that messages name with a line number. */
export const SOURCE =
  '(?:go|rs|c|cc|cpp|cxx|h|hpp|m|mm|swift|java|kts?|scala|groovy|cs|fs|vb|py|pyx|rb|pl|pm|lua|php|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|astro|css|scss|sass|less|styl|html|hs|ml|mli|ex|exs|erl|elm|nim|zig|d|dart|jl|r|R|sh|bash|tf|hcl|ya?ml|json|toml|ini|conf|cfg|xml|proto|sql|graphql|tex|md|v|sv|vhd|adb|ads|f90|f95|f|pas|pp|vala|cob|cbl|l|ll|y|yy|po|asm|s|S|tcl|lisp|scm|nix|vcl|mk|am|ac|adoc|rst|prisma|thrift|xsd|jsp|erb|haml|twig|j2|tmpl|hbs|ejs|pug|liquid|rego|cue|bats|vhdl|clj|cljs|rkt|gradle|bazel|bzl|cmake|build|Dockerfile)';
