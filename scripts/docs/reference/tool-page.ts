/** The manual page of an executable, made from the definitions of its commands. */
import { COMMON_OPTIONS, type Command, type Tool, titleOf } from '@runner/common/cli/command';
import { exitRows, type HelpRow, optionRows, positionalRows } from '@runner/common/cli/help';
import {
  bold,
  escaped,
  filled,
  italic,
  item,
  page,
  paragraphs,
  section,
  verbatim,
} from './roff.ts';

/** Pages that every page names. */
const ALWAYS_SEE = ['runner(1)', 'runner-config(5)'];

/** `-o, --output <FORMAT>`: what is typed as it stands in bold, what stands for another word in italics. */
function marked(term: string): string {
  const parts = term.split(/(<.*?>|\[.*?\](?:\.{3})?|--?[\w-]+|^\d+$)/);
  return parts
    .map((part, index) => {
      if (index % 2 === 0) return escaped(part);
      return /^[<[]/.test(part) ? italic(part) : bold(part);
    })
    .join('');
}

function items(rows: readonly HelpRow[]): string[] {
  return rows.flatMap(([term, meaning]) => item(marked(term), ...filled(escaped(meaning))));
}

/** What is typed: the executable as the shim is asked for it. */
function synopsis(tool: Tool, definition: Command): string[] {
  const positionals = positionalRows(definition).map(([title]) => italic(title));
  return filled([bold(titleOf(tool, definition)), italic('[OPTIONS]'), ...positionals].join(' '));
}

function description({ about, details }: Command): string[] {
  return [...filled(escaped(`${about}.`)), ...(details ? ['.PP', ...paragraphs(details)] : [])];
}

/** What follows the description, under headings of one kind. */
function partsOf(
  definition: Command,
  options: readonly HelpRow[],
  under: (title: string, lines: readonly string[]) => string[],
): string[] {
  return [
    ...under('Arguments', items(positionalRows(definition))),
    ...under('Options', items(options)),
    ...under('Exit status', items(exitRows(definition))),
    ...under('Examples', definition.examples ? verbatim(definition.examples) : []),
  ];
}

/** The sections of a tool with one command. */
function onlyCommand(tool: Tool, definition: Command): string[] {
  const options = optionRows({ ...definition.options, ...COMMON_OPTIONS });
  return [
    ...section('SYNOPSIS', synopsis(tool, definition)),
    ...section('DESCRIPTION', description(definition)),
    ...partsOf(definition, options, (title, lines) => section(title.toUpperCase(), lines)),
  ];
}

function subcommand(tool: Tool, definition: Command): string[] {
  const parts = partsOf(definition, optionRows(definition.options), (title, lines) =>
    lines.length === 0 ? [] : ['.PP', `${title}:`, ...lines],
  );
  const lines = [...synopsis(tool, definition), '.PP', ...description(definition), ...parts];
  return section(titleOf(tool, definition), lines, 'SS');
}

function manyCommands(tool: Tool): string[] {
  const lines = tool.commands.flatMap((each, index) => [
    ...(index > 0 ? ['.br'] : []),
    ...synopsis(tool, each),
  ]);
  const version: HelpRow = ['--version', 'Print the version, in place of a command'];
  return [
    ...section('SYNOPSIS', lines),
    ...section('DESCRIPTION', filled(escaped(`${tool.about}.`))),
    ...section(
      'COMMANDS',
      tool.commands.flatMap((each) => subcommand(tool, each)),
    ),
    ...section('OPTIONS', [
      'Every command has these as well:',
      ...items([...optionRows(COMMON_OPTIONS), version]),
    ]),
  ];
}

/** Variables that every executable heeds. */
const ENVIRONMENT = [
  ['RUNNER_ROOT', 'Folder that holds everything, unless --root is given'],
  ['NO_COLOR, FORCE_COLOR', 'Never colours, or always, unless --color is given'],
] as const;

/** `runner-add.1` and so on. */
export function toolPage(tool: Tool, version: string, others: readonly string[]): string {
  const [only] = tool.commands;
  const body = only?.name === '' ? onlyCommand(tool, only) : manyCommands(tool);
  const see = [...ALWAYS_SEE, ...others].map((each) => reference(each)).join(', ');
  return page(tool.name, 1, version, [
    ...section('NAME', filled(`${escaped(tool.name)} \\- ${escaped(lowered(tool.about))}`)),
    ...body,
    ...section(
      'ENVIRONMENT',
      ENVIRONMENT.flatMap(([name, meaning]) => item(bold(name), ...filled(escaped(meaning)))),
    ),
    ...section('SEE ALSO', filled(see)),
  ]);
}

/** `runner(1)` with the name in bold. */
export function reference(text: string): string {
  const [, name = text, part = ''] = /^(.*)(\(\d\))$/.exec(text) ?? [];
  return `${bold(name)}${part}`;
}

/** A sentence as the middle of another: `Show the apps` becomes `show the apps`. */
export function lowered(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}
