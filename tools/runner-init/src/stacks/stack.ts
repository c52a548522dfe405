/** The shape of the table of stacks. */

/** The languages, whose packages are installed by `INSTALLERS`. */
export type Language =
  | 'node'
  | 'python'
  | 'ruby'
  | 'php'
  | 'go'
  | 'rust'
  | 'java'
  | 'dotnet'
  | 'elixir'
  | 'deno'
  | 'none';

/**
 * What must hold. Named groups of `path`, `text` and `script` become variables of the commands; they
 * match only what is harmless in a shell.
 */
export interface Clue {
  /** A file, in which `text` must be found if there is one. */
  readonly path?: string | RegExp;
  readonly text?: RegExp;
  /** A package that is depended on; several, separated by spaces: any of them. */
  readonly dep?: string;
  /** A script of package.json, which `text` must match if there is one. */
  readonly script?: string;
  /** It must not hold. */
  readonly not?: true;
}

/** A command, or one that is only there if clues hold. */
export type CommandLine = string | { readonly run: string; readonly when: readonly Clue[] };

/** A shared path, and when it is there. */
export interface SharedPath {
  readonly path: string;
  readonly why: string;
  readonly when?: readonly Clue[];
}

/** One row of the table: how a stack is recognised, built and started. */
export interface Stack {
  readonly name: string;
  readonly language: Language;
  /** All must hold; of the rows for which they do, the first counts. */
  readonly when: readonly Clue[];
  /** Commands with variables: `{install}` and what the clues found. */
  readonly build?: readonly CommandLine[];
  /** What starts it in the foreground; without it a web server serves `output`. */
  readonly start?: string;
  /** The folder that a web server serves. */
  readonly output?: string;
  /** The compose file. */
  readonly compose?: string;
  /** The port in the file, if the app has no other preference. */
  readonly port?: number;
  /** A path that answers whether it is healthy. */
  readonly health?: CommandLine;
  readonly env?: Readonly<Record<string, string>>;
  readonly shared?: readonly SharedPath[];
  /** What migrates, for an app that does not do so itself. */
  readonly migrate?: CommandLine;
  /** What an operator has to know. */
  readonly notes?: readonly CommandLine[];
  /** What keeps it from being deployed, a sentence: there is no file then. */
  readonly missing?: string;
}

/** A clue; a text is a package that is depended on, or several of which any is. */
type ShortClue = string | Clue;
type ShortClues = ShortClue | readonly ShortClue[];

/** The kinds of rows of a language. `build` is what builds them, `port` that of its servers. */
export function rowsOf(language: Language, { build, port }: Pick<Stack, 'build' | 'port'> = {}) {
  const row = (name: string, given: ShortClues, more: Partial<Stack>): Stack => {
    const clues = [given].flat() as readonly ShortClue[];
    const when = clues.map((each) => (typeof each === 'string' ? { dep: each } : each));
    return { name, language, when, ...more };
  };
  const built = build && { build };
  return {
    server: (name: string, when: ShortClues, start: string, more: Partial<Stack> = {}) =>
      row(name, when, { ...built, ...(port !== undefined && { port }), start, ...more }),
    site: (name: string, when: ShortClues, output: string, more: Partial<Stack> = {}) =>
      row(name, when, { ...built, output, ...more }),
    /** `why`: what keeps it from being deployed. */
    missing: (name: string, when: ShortClues, why: string) => row(name, when, { missing: why }),
  };
}
