/**
 * The options of a command line, checked one by one: what mri would guess at (missing values, repeated
 * or unknown options, a lone dash, negative numbers) is decided here and told in clap's words.
 */
import { usage } from '../foundation/failure.ts';
import { nearest } from '../text/nearest.ts';
import { type Option, type Options, optionTitle } from './option.ts';

/** Every option as `--name` or `--name=value`, checked; their names; and what stands beside them. */
export function normalise(
  options: Options,
  argv: readonly string[],
): { normal: string[]; rest: string[]; given: ReadonlySet<string> } {
  const normal: string[] = [];
  const rest: string[] = [];
  const given = new Set<string>();
  const take = (name: string, inline: string | undefined, next: string | undefined): number => {
    const option = options[name] as Option;
    const title = optionTitle(name, option);
    if (given.has(name) && option.kind === 'value') {
      throw usage(`the argument '${title}' cannot be used multiple times`);
    }
    given.add(name);
    if (option.kind === 'flag') {
      if (inline !== undefined) {
        throw usage(`unexpected value for '${title}' found; no more were expected`);
      }
      normal.push(`--${name}`);
      return 0;
    }
    const value = inline ?? (next !== undefined && isValue(next) ? next : undefined);
    if (value === undefined || (value === '' && !option.emptyAllowed)) {
      throw usage(`a value is required for '${title}' but none was supplied`);
    }
    if (option.choices && !option.choices.includes(value)) {
      const shown = option.secret ? '' : `'${value}' `;
      throw usage(
        `invalid value ${shown}for '${title}' [possible values: ${option.choices.join(', ')}]`,
      );
    }
    normal.push(`--${name}=${value}`);
    return inline === undefined ? 1 : 0;
  };
  for (let index = 0; index < argv.length; index += 1) {
    const arg = argv[index] as string;
    if (arg === '--') {
      rest.push(...argv.slice(index + 1));
      break;
    }
    if (arg.startsWith('--')) {
      const equals = arg.indexOf('=');
      const name = arg.slice(2, equals === -1 ? undefined : equals);
      if (!Object.hasOwn(options, name)) throw unknownOption(`--${name}`, Object.keys(options));
      index += take(name, equals === -1 ? undefined : arg.slice(equals + 1), argv[index + 1]);
    } else if (arg.length > 1 && arg.startsWith('-')) {
      index += takeShorts(arg, options, take, argv[index + 1]);
    } else {
      rest.push(arg);
    }
  }
  return { normal, rest, given };
}

/** `-h`, `-o json`, `-ojson`, `-o=json`, `-ho json`. Returns how many further arguments it used. */
function takeShorts(
  arg: string,
  options: Options,
  take: (name: string, inline: string | undefined, next: string | undefined) => number,
  next: string | undefined,
): number {
  const names = Object.keys(options);
  for (let at = 1; at < arg.length; at += 1) {
    const name = names.find((each) => options[each]?.short === arg[at]);
    if (name === undefined) {
      throw usage(
        `unexpected argument '-${String.fromCodePoint(arg.codePointAt(at) as number)}' found`,
      );
    }
    if (options[name]?.kind === 'value') {
      const inline = arg.slice(at + 1).replace(/^=/, '');
      return take(name, at + 1 < arg.length ? inline : undefined, next);
    }
    take(name, undefined, undefined);
  }
  return 0;
}

/** Whether an argument after an option is its value: `-` and negative numbers are, options are not. */
function isValue(arg: string): boolean {
  return !arg.startsWith('-') || arg === '-' || /^-\d/.test(arg);
}

function unknownOption(arg: string, names: readonly string[]): Error {
  const near = nearest(arg.slice(2), names);
  return usage(
    `unexpected argument '${arg}' found${near ? `; a similar argument exists: '--${near}'` : ''}`,
  );
}
