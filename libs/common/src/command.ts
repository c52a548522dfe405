/**
 * What a command is, and how its command line is read. A command is plain data plus one function;
 * help and parsing come from the data. mri does the last step of parsing; everything that mri
 * would guess at (numbers, missing values, repeated or unknown options, a lone dash) is decided
 * here first and told in clap's words.
 */
import mri from 'mri';
import { normalise } from './argv.ts';
import { usage } from './failure.ts';
import type { Io } from './io.ts';
import { type Flag, type Option, type Options, optionTitle } from './option.ts';
import type { Format, Style } from './output.ts';
import type { Paths } from './paths.ts';

/** One argument without a dash. */
export interface Positional {
  readonly about: string;
  readonly required?: boolean;
  /** Takes all that remain. */
  readonly many?: boolean;
  /** No other word is taken. */
  readonly choices?: readonly string[];
  /** Words that completion offers; others are taken too. */
  readonly suggestions?: readonly string[];
}
/** The arguments of a command by their names, in their order. */
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

/** What `run` is given. */
export interface Context<O extends Options = Options, P extends Positionals = Positionals> {
  readonly io: Io;
  readonly paths: Paths;
  readonly options: OptionValues<O>;
  readonly args: PositionalValues<P>;
  readonly format: Format;
  /** Name as typed, e.g. `runner tokens list`; what stderr lines begin with. */
  readonly title: string;
  /** One line on stderr, prefixed by the command's name. */
  note(text: string): void;
  /** One record of a stream on stdout, at once: a line of JSON, a YAML document, or `human`'s text. */
  print(record: unknown): Promise<void>;
  /** Colours for stdout and for stderr. */
  readonly style: Style;
  readonly errStyle: Style;
}

/** What `run` returns: the object that the documentation promises, and a status other than 0. */
export interface Answer {
  readonly value?: unknown;
  readonly status?: number;
}

/** A command as it is written down; what `run` gets follows from `options` and `positionals`. */
export interface CommandDefinition<O extends Options, P extends Positionals> {
  /** The word after the tool's name; empty for the only command of a tool. */
  readonly name: string;
  /** One line, no full stop. */
  readonly about: string;
  /** Further paragraphs of the help. */
  readonly details?: string;
  readonly positionals?: P;
  readonly options?: O;
  /** Exit statuses beyond 0, 1 and 2, for the help. */
  readonly exits?: readonly (readonly [status: number, meaning: string])[];
  /** Typed examples, for the help. */
  readonly examples?: readonly string[];
  run(context: Context<O, P>): Promise<Answer>;
  /** The only rendering written by hand. Gets the value that `run` returned or printed. */
  human?(value: never, style: Style, context: Context<O, P>): string;
}

/** A command whatever its options: what help, completion and parsing know of it. */
export type Command = CommandDefinition<Options, Positionals>;

/** Names a command; only the types of its options and positionals are worked out. */
export function command<const O extends Options, const P extends Positionals>(
  definition: CommandDefinition<O, P>,
): Command {
  return definition as unknown as Command;
}

/** One executable: `runner-<name>` with one command, or with a command per second word. */
export interface Tool {
  /** The executable's name, e.g. `runner-tokens`. */
  readonly name: string;
  readonly about: string;
  readonly commands: readonly Command[];
}

/** `runner tokens list`: how an operator types a command of a tool. */
export function titleOf(tool: Tool, definition?: Command): string {
  return [tool.name.replace('-', ' '), definition?.name].filter(Boolean).join(' ');
}

/** Options that every command has. */
export const COMMON_OPTIONS = {
  json: { kind: 'flag', about: 'Shortcut for --output json', conflicts: ['output'] },
  output: {
    kind: 'value',
    short: 'o',
    placeholder: 'FORMAT',
    choices: ['human', 'json', 'yaml'],
    about: 'How to print the answer [default: human]',
  },
  root: {
    kind: 'value',
    placeholder: 'DIR',
    about: "The runner's folder [default: $RUNNER_ROOT, else /opt/runner]",
  },
  color: {
    kind: 'value',
    placeholder: 'WHEN',
    choices: ['auto', 'always', 'never'],
    about: 'When to use colours [default: auto]',
  },
  help: { kind: 'flag', short: 'h', about: 'Print help' },
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

/** A command line as it was read: values by the names of options and arguments. */
export interface Parsed {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Reads a command line by a definition. Throws `usage`. With `--help` nothing else is checked. */
export function parse(definition: Command, argv: readonly string[]): Parsed {
  const options = optionsOf(definition);
  const { normal, rest } = normalise(options, argv);
  const names = Object.keys(options);
  // `no-x` is mri's own word for x = false, so such a name is handed over without its `no-`.
  const handed = (name: string) => (name.startsWith('no-') ? name.slice(3) : name);
  const found = mri(normal, {
    string: names.filter((name) => options[name]?.kind === 'value'),
    boolean: names.filter((name) => options[name]?.kind === 'flag').map(handed),
  });
  const values: Record<string, string | boolean | undefined> = {};
  for (const name of names) {
    const option = options[name] as Option;
    const given = normal.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
    if (option.kind === 'flag') values[name] = given;
    else values[name] = given ? String(found[name]) : option.default;
  }
  if (values.help === true) return { options: values, args: {} };
  checkConflicts(options, normal);
  return { options: values, args: placePositionals(definition, options, values, rest) };
}

function checkConflicts(options: Options, normal: readonly string[]): void {
  const given = Object.keys(options).filter((name) =>
    normal.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`)),
  );
  for (const name of given) {
    const option = options[name] as Option;
    const other = option.conflicts?.find((candidate) => given.includes(candidate));
    if (other !== undefined) {
      throw usage(
        `the argument '${optionTitle(name, option)}' cannot be used with '${optionTitle(other, options[other] as Option)}'`,
      );
    }
  }
}

function placePositionals(
  definition: Command,
  options: Options,
  values: Parsed['options'],
  rest: readonly string[],
): Parsed['args'] {
  const args: Record<string, string | readonly string[] | undefined> = {};
  const missing = Object.keys(options).flatMap((name) => {
    const option = options[name] as Option;
    const absent = option.kind === 'value' && option.required && values[name] === undefined;
    return absent ? [optionTitle(name, option)] : [];
  });
  let used = 0;
  for (const [name, spec] of Object.entries(definition.positionals ?? {})) {
    const taken = spec.many ? rest.slice(used) : rest.slice(used, used + 1);
    used += taken.length;
    if (spec.required && taken.length === 0) missing.push(positionalTitle(name, spec));
    const foreign = spec.choices && taken.find((word) => !spec.choices?.includes(word));
    if (foreign !== undefined) {
      throw usage(
        `invalid value '${foreign}' for '${positionalTitle(name, spec)}' [possible values: ${spec.choices?.join(', ')}]`,
      );
    }
    args[name] = spec.many ? taken : taken[0];
  }
  if (missing.length > 0) {
    throw usage(`the following required arguments were not provided: ${missing.join(', ')}`);
  }
  if (used < rest.length) throw usage(`unexpected argument '${rest[used]}' found`);
  return args;
}
