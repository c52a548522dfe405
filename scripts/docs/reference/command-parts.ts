/** A command in rows, as its manual page and the web page show it. */
import { type Command, positionalTitle } from '@runner/common/cli/command';
import { choicesText, exitsOf } from '@runner/common/cli/help';
import { type Options, optionTitle } from '@runner/common/cli/option';

/** A term and what it means. */
export type Row = readonly [term: string, meaning: string];

/** `-o, --output <FORMAT>` and so on. */
export function optionRows(options: Options = {}): Row[] {
  return Object.entries(options).map(([name, option]) => {
    const short = option.short ? `-${option.short}, ` : '';
    const choices = option.placeholder ? choicesText(option.choices) : '';
    return [`${short}${optionTitle(name, option)}`, `${option.about}${choices}`];
  });
}

export function positionalRows({ positionals = {} }: Command): Row[] {
  return Object.entries(positionals).map(([name, spec]) => [
    positionalTitle(name, spec),
    `${spec.about}${choicesText(spec.choices)}`,
  ]);
}

export function exitRows(definition: Command): Row[] {
  return exitsOf(definition).map(([status, meaning]) => [String(status), meaning]);
}
