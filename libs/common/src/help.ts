/** The help text of a tool and of a command, made from their definitions. */
import { COMMON_OPTIONS, type Command, positionalTitle, type Tool, titleOf } from './command.ts';
import { type Options, optionTitle } from './option.ts';

function rows(entries: readonly (readonly [string, string])[]): string {
  const width = Math.min(30, Math.max(...entries.map(([left]) => left.length)));
  return entries
    .map(([left, right]) =>
      left.length > width
        ? `  ${left}\n  ${' '.repeat(width)}  ${right}\n`
        : `  ${left.padEnd(width)}  ${right}\n`,
    )
    .join('');
}

function optionRows(options: Options): [string, string][] {
  return Object.entries(options).map(([name, option]) => {
    const short = option.short ? `-${option.short}, ` : '    ';
    const choices =
      option.kind === 'value' && option.choices ? ` [${option.choices.join('|')}]` : '';
    return [`${short}${optionTitle(name, option)}`, `${option.about}${choices}`];
  });
}

const EXITS: readonly (readonly [number, string])[] = [
  [0, 'Done'],
  [1, 'Refused or failed; the reason is on stderr'],
  [2, 'Wrong usage'],
];

/** Help of one command: what it does, usage, arguments, options, exit statuses. */
export function commandHelp(tool: Tool, definition: Command): string {
  const positionals = Object.entries(definition.positionals ?? {});
  const usage = ['[OPTIONS]', ...positionals.map(([name, spec]) => positionalTitle(name, spec))];
  const own = optionRows(definition.options ?? {});
  const exits = [...EXITS, ...(definition.exits ?? [])].sort((a, b) => a[0] - b[0]);
  const parts = [
    `${definition.about}\n`,
    definition.details ? `${definition.details.trim()}\n` : '',
    `Usage: ${titleOf(tool, definition)} ${usage.join(' ')}\n`,
    positionals.length > 0
      ? `Arguments:\n${rows(positionals.map(([name, spec]) => [positionalTitle(name, spec), spec.about]))}`
      : '',
    `Options:\n${rows([...own, ...optionRows(COMMON_OPTIONS)])}`,
    `Exit status:\n${rows(exits.map(([status, meaning]) => [String(status), meaning]))}`,
    definition.examples
      ? `Examples:\n${definition.examples.map((line) => `  ${line}\n`).join('')}`
      : '',
  ];
  return parts.filter(Boolean).join('\n');
}

/** Help of a tool with several commands. */
export function toolHelp(tool: Tool): string {
  const commands = tool.commands.map((each) => [each.name, each.about] as const);
  return [
    `${tool.about}\n`,
    `Usage: ${titleOf(tool)} <COMMAND> [OPTIONS]\n`,
    `Commands:\n${rows(commands)}`,
    `Options:\n${rows([
      ['-h, --help', 'Print help; after a command, the help of that command'],
      ['    --version', 'Print the version'],
    ])}`,
  ].join('\n');
}
