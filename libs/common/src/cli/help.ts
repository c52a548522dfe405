/** The help text of a tool and of a command, made from their definitions. */
import { COMMON_OPTIONS, type Command, positionalTitle, type Tool, titleOf } from './command.ts';
import { type Option, type Options, optionTitle } from './option.ts';

/** Longest line of a help text, in characters; examples are printed as they are. */
const WIDTH = 80;

/** Rows in two columns, each line ended; the right column wraps. */
export function columns(entries: readonly HelpRow[]): string {
  const width = Math.min(30, Math.max(...entries.map(([left]) => left.length)));
  const margin = ' '.repeat(width + 4);
  return entries
    .map(([left, right]) => {
      const text = wrap(right, WIDTH - margin.length).join(`\n${margin}`);
      return left.length > width
        ? `  ${left}\n${margin}${text}\n`
        : `  ${left.padEnd(width)}  ${text}\n`;
    })
    .join('');
}

/** Does not break inside brackets, as in `[default: 5 s]`, unless they fill more than a line. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ (?![^[\]]*\])/)) {
    const parts = word.length > width ? word.split(/(?= )|(?<=\|)/) : [word];
    parts[0] = ` ${parts[0]}`;
    for (const part of parts) {
      const last = lines.at(-1);
      if (last !== undefined && last.length + part.length <= width)
        lines[lines.length - 1] = last + part;
      else lines.push(part.trimStart());
    }
  }
  return lines;
}

/** Paragraphs rewrapped to the width of a help; those with columns stay as they are. */
function filled(text: string): string {
  const paragraphs = text.trim().split(/\n{2,}/);
  return paragraphs
    .map((each) =>
      /\S {3,}\S/.test(each) ? each : wrap(each.replaceAll('\n', ' '), WIDTH).join('\n'),
    )
    .join('\n\n');
}

export type HelpRow = readonly [term: string, meaning: string];

/** ` [human|json|yaml]`, which follows the description of a value. */
function choicesText(choices: readonly string[] | undefined): string {
  return choices ? ` [${choices.join('|')}]` : '';
}

/** ` [default: 30d]`, unless the description says it in words of its own. */
function defaultText(option: Option): string {
  if (!option.placeholder || option.default === undefined) return '';
  return option.about.includes('[default: ') ? '' : ` [default: ${option.default}]`;
}

/** `noShort` stands before an option without a short form. */
export function optionRows(options: Options = {}, noShort = ''): HelpRow[] {
  return Object.entries(options).map(([name, option]) => {
    const short = option.short ? `-${option.short}, ` : noShort;
    const choices = option.placeholder ? choicesText(option.choices) : '';
    return [
      `${short}${optionTitle(name, option)}`,
      `${option.about}${defaultText(option)}${choices}`,
    ];
  });
}

const EXITS: readonly (readonly [number, string])[] = [
  [0, 'Done'],
  [1, 'Refused or failed; the reason is on stderr'],
  [2, 'Wrong usage'],
];

/** Exit statuses of a command, in order. */
export function exitRows({ exits = [] }: Command): HelpRow[] {
  const sorted = [...EXITS, ...exits].sort((a, b) => a[0] - b[0]);
  return sorted.map(([status, meaning]) => [String(status), meaning]);
}

export function positionalRows({ positionals = {} }: Command): HelpRow[] {
  return Object.entries(positionals).map(([name, spec]) => [
    positionalTitle(name, spec),
    `${spec.about}${choicesText(spec.choices)}`,
  ]);
}

/** `runner add [OPTIONS] --repo <OWNER/NAME> <--branch <BRANCH>|--tags <PATTERN>>`. */
export function usageLine(tool: Tool, definition: Command): string {
  const { options = {}, oneOf = [] } = definition;
  const titleIn = (name: string) => optionTitle(name, options[name] as Option);
  const required = Object.entries(options).flatMap(([name, option]) =>
    option.placeholder && option.required ? [titleIn(name)] : [],
  );
  const one = oneOf.length === 0 ? [] : [`<${oneOf.map(titleIn).join('|')}>`];
  const titles = positionalRows(definition).map(([title]) => title);
  return [titleOf(tool, definition), '[OPTIONS]', ...required, ...one, ...titles].join(' ');
}

/** Help of one command: what it does, usage, arguments, options, exit statuses. */
export function commandHelp(tool: Tool, definition: Command): string {
  const positionals = positionalRows(definition);
  const options = { ...definition.options, ...COMMON_OPTIONS };
  const parts = [
    `${definition.about}\n`,
    definition.details ? `${filled(definition.details)}\n` : '',
    `Usage: ${wrap(usageLine(tool, definition), WIDTH - 7).join('\n       ')}\n`,
    positionals.length > 0 ? `Arguments:\n${columns(positionals)}` : '',
    `Options:\n${columns(optionRows(options, '    '))}`,
    `Exit status:\n${columns(exitRows(definition))}`,
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
    `Commands:\n${columns(commands)}`,
    `Options:\n${columns([
      ['-h, --help', 'Print help; after a command, the help of that command'],
      ['    --version', 'Print the version'],
    ])}`,
  ].join('\n');
}
