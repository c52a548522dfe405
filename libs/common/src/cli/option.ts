/** The options of a command. */

interface OptionBase {
  readonly about: string;
  readonly short?: string;
  /** Long names of options that cannot be given together with this one. */
  readonly conflicts?: readonly string[];
}
/** On or off: it has no placeholder. */
export interface Flag extends OptionBase {
  readonly placeholder?: undefined;
}
/** Takes one value, always a string. Its name must not begin with `no-`: mri reads that as a negation. */
export interface Value extends OptionBase {
  /** Shown in help as `<PLACEHOLDER>`. */
  readonly placeholder: string;
  readonly choices?: readonly string[];
  /** Takes several of `choices`, separated by commas. */
  readonly list?: true;
  readonly default?: string;
  readonly required?: boolean;
  /** The value may be empty, e.g. `--error ''`. */
  readonly emptyAllowed?: boolean;
  /** Messages never quote the value. */
  readonly secret?: boolean;
}
export type Option = Flag | Value;
/** The options of a command by their long names. */
export type Options = Readonly<Record<string, Option>>;

/** `--token <TOKEN>` or `--json`, as clap names an option in its sentences. */
export function optionTitle(name: string, { placeholder }: Option): string {
  return placeholder === undefined ? `--${name}` : `--${name} <${placeholder}>`;
}
