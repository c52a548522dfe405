/**
 * Reads a command line. mri parses it; `guarded` keeps from it what it would misread, and what it
 * found is checked strictly: unknown options, missing values and repeats are refused in clap's words.
 */
import mri from 'mri';
import { type Failure, usage } from '../foundation/failure.ts';
import { nearest } from '../text/nearest.ts';
import { type Command, optionsOf, positionalTitle } from './command.ts';
import { type Option, type Options, optionTitle, type Value } from './option.ts';

/** A parsed command line: values by the names of options and positionals. */
export interface ParsedCommandLine {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Parses a command line by its definition. Throws `usage`; `usageLine` is shown when an argument is
 * missing. `--help` needs no positionals.
 */
export function parse(
  definition: Command,
  argv: readonly string[],
  usageLine = '',
): ParsedCommandLine {
  const options = optionsOf(definition);
  const known = { ...definition, options };
  const found = mriParse(known, argv);
  const values = valuesOf(known, found);
  const words = found._.map((word) => positional(word, known));
  if (values.help === true) return { options: values, args: {} };
  checkConflicts(options, found, values);
  return {
    options: values,
    args: placePositionals(definition, missingOptions(options, values), words, usageLine),
  };
}

/** The options of a command, and what to type instead of those of other programs. */
interface KnownOptions extends Pick<Command, 'instead' | 'otherwise'> {
  readonly options: Options;
}

/**
 * Marks an argument as a word. mri would take `-1001234` for options, drop `-`, turn `007` into a
 * number, `--error=` into the argument after it and `true` after a flag into the flag's value.
 */
const WORD = '\0';

/** The arguments, each changed only where mri would misread it; those after `--` are left alone. */
function guarded(known: KnownOptions, argv: readonly string[]): string[] {
  const { options } = known;
  const letters = Object.values(options).flatMap((option) =>
    option.placeholder && option.short ? [option.short] : [],
  );
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return [...argv.slice(0, end).map(guard), ...argv.slice(end)];

  function guard(arg: string): string {
    if (arg.length < 2 || !arg.startsWith('-') || /^-\d/.test(arg)) return WORD + arg;
    return arg.startsWith('--') ? guardLong(arg) : guardShort(arg);
  }

  function guardLong(arg: string): string {
    const [name = ''] = arg.slice(2).split('=', 1);
    // mri takes `---json` for letters, and `--o` for `-o`.
    if (/^-|^.$/s.test(name)) throw unexpected(`--${name}`, known);
    if (name.length + 2 === arg.length) return arg;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option && !option.placeholder) {
      throw usage(
        `unexpected value for '${optionTitle(name, option)}' found; no more were expected`,
      );
    }
    return `--${name}=${WORD}${arg.slice(name.length + 3)}`;
  }

  /** mri does not know `-ojson`. */
  function guardShort(arg: string): string {
    const at = [...arg].findIndex((letter) => letters.includes(letter));
    const group = at === -1 ? arg : arg.slice(0, at + 1);
    const odd = /[-=]|\P{ASCII}/u.exec(group.slice(1));
    if (odd) throw unexpected(`-${odd[0]}`, known);
    return group === arg ? arg : `${group}=${WORD}${arg.slice(group.length).replace(/^=/, '')}`;
  }
}

function mriParse(known: KnownOptions, argv: readonly string[]): mri.Argv {
  const { options } = known;
  const keys = (hasValue: boolean) =>
    Object.entries(options).flatMap(([name, { placeholder, short = [] }]) =>
      (placeholder !== undefined) === hasValue ? [nameForMri(name), short].flat() : [],
    );
  const args = guarded(known, argv);
  const [string, boolean] = [keys(true), keys(false)];
  // Strict mri knows only the keys of `alias`. A letter has an entry of its own, since mri would
  // let `-o json` replace the value of `--output`.
  const alias = Object.fromEntries([...string, ...boolean].map((key) => [key, []]));
  const unknown = (arg: string) => {
    // It may have been meant as the value of the option before it: then that one is reported.
    valuesOf(known, mri(args, { string, boolean }));
    throw unexpected(arg.split('=')[0] as string, known);
  };
  return mri(args, { string, boolean, alias, unknown });
}

/** mri reads `--no-x` as x = false. */
function nameForMri(name: string): string {
  return name.startsWith('no-') ? name.slice(3) : name;
}

/** All that mri found for an option under its name and its letter. */
function givenTo(name: string, option: Option, found: mri.Argv): unknown[] {
  const values = [nameForMri(name), option.short ?? []]
    .flat()
    .flatMap((key) => found[key] as unknown);
  return values.filter((value) => value !== undefined);
}

function valuesOf(known: KnownOptions, found: mri.Argv): ParsedCommandLine['options'] {
  return Object.fromEntries(
    Object.entries(known.options).map(([name, option]) => {
      const given = givenTo(name, option, found);
      const negative = name.startsWith('no-');
      if (given.includes(negative)) {
        throw unexpected(negative ? `--${nameForMri(name)}` : `--no-${name}`, known);
      }
      if (!option.placeholder) return [name, given.length > 0];
      return [name, given.length === 0 ? option.default : singleValue(name, option, given)];
    }),
  );
}

function singleValue(name: string, option: Value, given: readonly unknown[]): string {
  const title = optionTitle(name, option);
  if (given.length > 1) throw usage(`the argument '${title}' cannot be used multiple times`);
  const [marked] = given as string[];
  const value = marked?.slice(WORD.length) ?? '';
  if (marked === '' || (value === '' && !option.emptyAllowed)) {
    throw usage(`a value is required for '${title}' but none was supplied`);
  }
  const words = option.list ? value.split(',') : [value];
  const unknown = words.find((word) => !option.choices?.includes(word));
  if (option.choices && unknown !== undefined) {
    const shown = option.secret ? '' : `'${unknown}' `;
    throw usage(
      `invalid value ${shown}for '${title}' [possible values: ${option.choices.join(', ')}]`,
    );
  }
  return value;
}

/** A word as it was typed; a negative number that no option takes is refused. */
function positional(word: string, known: KnownOptions): string {
  if (!word.startsWith(WORD)) return word;
  const typed = word.slice(WORD.length);
  if (typed.length > 1 && typed.startsWith('-')) throw unexpected(typed, known);
  return typed;
}

function unexpected(arg: string, { options, instead, otherwise }: KnownOptions): Failure {
  const near = arg.startsWith('--') ? nearest(arg.slice(2), Object.keys(options)) : undefined;
  const hint =
    instead && Object.hasOwn(instead, arg)
      ? `; use ${instead[arg]}`
      : near
        ? `; a similar argument exists: '--${near}'`
        : otherwise
          ? `; ${otherwise}`
          : '';
  return usage(`unexpected argument '${arg}' found${hint}`);
}

function checkConflicts(
  options: Options,
  found: mri.Argv,
  { output }: ParsedCommandLine['options'],
): void {
  const isGiven = (name: string) => givenTo(name, options[name] as Option, found).length > 0;
  for (const [name, option] of Object.entries(options)) {
    const other = isGiven(name) ? option.conflicts?.find(isGiven) : undefined;
    // Its shortcut agrees with it.
    if (other !== undefined && !(name === 'json' && other === 'output' && output === 'json')) {
      throw usage(
        `the argument '${optionTitle(name, option)}' cannot be used with '${optionTitle(other, options[other] as Option)}'`,
      );
    }
  }
}

function missingOptions(options: Options, values: ParsedCommandLine['options']): string[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const isMissing = option.placeholder && option.required && values[name] === undefined;
    return isMissing ? [optionTitle(name, option)] : [];
  });
}

function placePositionals(
  definition: Command,
  missingOptions: readonly string[],
  words: readonly string[],
  usageLine: string,
): ParsedCommandLine['args'] {
  const args: Record<string, string | readonly string[] | undefined> = {};
  const missing = [...missingOptions];
  let used = 0;
  for (const [name, spec] of Object.entries(definition.positionals ?? {})) {
    const taken = spec.many ? words.slice(used) : words.slice(used, used + 1);
    used += taken.length;
    const possible = spec.choices ? ` [possible values: ${spec.choices.join(', ')}]` : '';
    const listed = spec.listedBy === undefined ? '' : ` (see ${spec.listedBy})`;
    if (spec.required && taken.length === 0)
      missing.push(positionalTitle(name, spec) + possible + listed);
    const foreign = spec.choices && taken.find((word) => !spec.choices?.includes(word));
    if (foreign !== undefined) {
      throw usage(`invalid value '${foreign}' for '${positionalTitle(name, spec)}'${possible}`);
    }
    args[name] = spec.many ? taken : taken[0];
  }
  // What is missing may stand in the wrong place.
  if (used < words.length && definition.surplus !== undefined) throw usage(definition.surplus);
  if (missing.length > 0) {
    const hint = usageLine && definition.positionals ? `; usage: ${usageLine}` : '';
    throw usage(`the following required arguments were not provided: ${missing.join(', ')}${hint}`);
  }
  if (used < words.length) throw usage(`unexpected argument '${words[used]}' found`);
  return args;
}
