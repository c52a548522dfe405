/** A command is plain data plus one function; help and parsing follow from the data. */
import type { Io } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import type { Flag, Options } from './option.ts';
import type { Format, Style } from './output.ts';

/** One argument without a dash. */
export interface Positional {
  readonly about: string;
  readonly required?: boolean;
  /** Takes all remaining arguments. */
  readonly many?: boolean;
  /** The only words accepted. */
  readonly choices?: readonly string[];
  /** Words that completion offers; others are accepted too. */
  readonly suggestions?: readonly string[];
  /** The command that lists what can stand here, for the message when it is missing. */
  readonly listedBy?: string;
}
/** The positional arguments of a command, in order. */
export type Positionals = Readonly<Record<string, Positional>>;

type OptionValues<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Flag
    ? boolean
    : O[K] extends { default: string } | { required: true }
      ? string
      : string | undefined;
};
type PositionalValues<P extends Positionals> = {
  readonly [K in keyof P]: P[K] extends { many: true }
    ? readonly string[]
    : P[K] extends { required: true }
      ? string
      : string | undefined;
};

/** The argument of `run`. */
export interface Context<O extends Options = Options, P extends Positionals = Positionals> {
  readonly io: Io;
  readonly paths: Paths;
  readonly options: OptionValues<O>;
  readonly args: PositionalValues<P>;
  readonly format: Format;
  /** Name as typed, e.g. `runner tokens list`; the prefix of lines on stderr. */
  readonly title: string;
  /** Prints one line on stderr, prefixed by `title`. */
  note(text: string): void;
  /** Prints one record of a stream: a line of JSON, a YAML document, or `human`'s text. */
  print(record: unknown): Promise<void>;
  /** Colours for stdout and for stderr. */
  readonly style: Style;
  readonly errStyle: Style;
}

/** The result of `run`: the documented object, and an exit status other than 0. */
export interface CommandResult {
  readonly value?: unknown;
  readonly status?: number;
}

/** A command; the type of `run`'s argument follows from `options` and `positionals`. */
export interface CommandDefinition<O extends Options, P extends Positionals> {
  /** The word after the tool's name; absent for the only command of a tool. */
  readonly name?: string;
  /** One line, no full stop. */
  readonly about: string;
  /** Further paragraphs of the help. */
  readonly details?: string;
  readonly positionals?: P;
  readonly options?: O;
  /** Options of which it needs one, for the usage line. */
  readonly oneOf?: readonly (keyof O & string)[];
  /** Answers words beyond the positionals, which may be secret. */
  readonly surplus?: string;
  /** What to type instead of an option of other programs, by that option: `--dry-run`. */
  readonly instead?: Readonly<Record<string, string>>;
  /** What to do about any other option that it does not know. */
  readonly otherwise?: string;
  /** Exit statuses beyond 0, 1 and 2, for the help. */
  readonly exits?: readonly (readonly [status: number, meaning: string])[];
  /** Whether there is no answer without the root: `file_unreadable`. */
  readonly needsRoot?: true | ((args: PositionalValues<P>) => boolean);
  /** Root may run it in another user's root: it writes nothing there, or hands over all that it writes. */
  readonly safeInForeignRoot?: true;
  /** Never coloured. */
  readonly plain?: true;
  /** Example command lines, for the help. */
  readonly examples?: readonly string[];
  run(context: Context<O, P>): Promise<CommandResult>;
  /** Renders a value that `run` returned or printed, for people. */
  human?(value: never, style: Style, context: Context<O, P>): string | Promise<string>;
}

/** Any command, as help, completion and parsing see it. */
export type Command = CommandDefinition<Options, Positionals> & { readonly name: string };

/** Defines a command; infers the types of its options and positionals. */
export function command<const O extends Options, const P extends Positionals>(
  definition: CommandDefinition<O, P>,
): Command {
  return { name: '', ...definition } as unknown as Command;
}

/** One executable: `runner-<name>` with one command, or with a command per second word. */
export interface Tool {
  /** The executable's name, e.g. `runner-tokens`. */
  readonly name: string;
  readonly about: string;
  readonly commands: readonly Command[];
  /** Name of the command that is meant where none is named. */
  readonly meant?: string;
}

/** `runner tokens list`: how an operator types a command of a tool. */
export function titleOf(tool: Tool, definition?: Command): string {
  return [tool.name.replace('-', ' '), definition?.name].filter(Boolean).join(' ');
}

/** Options that every command has. */
export const COMMON_OPTIONS = {
  json: { about: 'Shortcut for --output json', conflicts: ['output'] },
  output: {
    short: 'o',
    placeholder: 'FORMAT',
    choices: ['human', 'json', 'yaml'],
    about: 'How to print the answer [default: human]',
  },
  root: {
    placeholder: 'DIR',
    about: 'Folder that holds everything [default: $RUNNER_ROOT, else /opt/runner]',
  },
  color: {
    placeholder: 'WHEN',
    choices: ['auto', 'always', 'never'],
    about: 'When to use colours [default: auto]',
  },
  help: { short: 'h', about: 'Print help' },
} as const satisfies Options;

/** The option of commands that write to the audit log. The answer for people then goes to stderr. */
export const EVENTS_OPTION = {
  events: {
    about: 'Print the audit records it writes, one JSON object a line; all else goes to stderr',
    conflicts: ['json', 'output'],
  },
} as const satisfies Options;

/** All options of a command: its own first, then the common ones. */
export function optionsOf(definition: Command): Options {
  return { ...definition.options, ...COMMON_OPTIONS };
}

/** `<APP>`, `[APP]` or `[APP]...`. */
export function positionalTitle(name: string, spec: Positional): string {
  const title = name.toUpperCase();
  return `${spec.required ? `<${title}>` : `[${title}]`}${spec.many ? '...' : ''}`;
}

/** Says that a command waits for what is typed: otherwise it would seem to hang. */
export function noteTyping({ io, note }: Pick<Context, 'io' | 'note'>, what: string): void {
  if (io.stdin.isTTY) note(`reading ${what} from the terminal; end with Ctrl-D`);
}
