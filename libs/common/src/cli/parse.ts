/**
 * How a command line is read. mri does the last step; everything that mri would guess at (numbers,
 * missing values, repeated or unknown options, a lone dash) is decided before it, in argv.ts, and
 * told in clap's words.
 */
import mri from 'mri';
import { usage } from '../foundation/failure.ts';
import { normalise } from './argv.ts';
import { type Command, optionsOf, positionalTitle } from './command.ts';
import { type Option, type Options, optionTitle } from './option.ts';

/** A command line as it was read: values by the names of options and arguments. */
export interface Parsed {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Reads a command line by a definition. Throws `usage`. With `--help` nothing else is checked. */
export function parse(definition: Command, argv: readonly string[]): Parsed {
  const options = optionsOf(definition);
  const { normal, rest, given } = normalise(options, argv);
  const names = Object.keys(options);
  // `no-x` is mri's own word for x = false, so such a name is handed over without its `no-`.
  const handed = (name: string) => (name.startsWith('no-') ? name.slice(3) : name);
  const used = [...given];
  const found = mri(normal, {
    string: used.filter((name) => options[name]?.kind === 'value'),
    boolean: used.filter((name) => options[name]?.kind === 'flag').map(handed),
  });
  const values: Record<string, string | boolean | undefined> = {};
  for (const name of names) {
    const option = options[name] as Option;
    if (option.kind === 'flag') values[name] = given.has(name);
    else values[name] = given.has(name) ? String(found[name]) : option.default;
  }
  if (values.help === true) return { options: values, args: {} };
  checkConflicts(options, given);
  return { options: values, args: placePositionals(definition, options, values, rest) };
}

function checkConflicts(options: Options, given: ReadonlySet<string>): void {
  // In the order of the definition, whatever the order on the command line.
  for (const name of Object.keys(options).filter((each) => given.has(each))) {
    const option = options[name] as Option;
    const other = option.conflicts?.find((candidate) => given.has(candidate));
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
    const possible = spec.choices ? ` [possible values: ${spec.choices.join(', ')}]` : '';
    if (spec.required && taken.length === 0) missing.push(positionalTitle(name, spec) + possible);
    const foreign = spec.choices && taken.find((word) => !spec.choices?.includes(word));
    if (foreign !== undefined) {
      throw usage(`invalid value '${foreign}' for '${positionalTitle(name, spec)}'${possible}`);
    }
    args[name] = spec.many ? taken : taken[0];
  }
  if (missing.length > 0) {
    throw usage(`the following required arguments were not provided: ${missing.join(', ')}`);
  }
  if (used < rest.length) throw usage(`unexpected argument '${rest[used]}' found`);
  return args;
}
