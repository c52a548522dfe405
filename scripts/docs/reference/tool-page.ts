/** The manual page of an executable, made from the definitions of its commands. */
import {
  COMMON_OPTIONS,
  type Command,
  positionalTitle,
  type Tool,
  titleOf,
} from '@runner/common/cli/command';
import { choicesText, exitsOf } from '@runner/common/cli/help';
import type { Option, Options } from '@runner/common/cli/option';
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

/** `-o, --output <FORMAT>`, marked up. */
function optionTerm(name: string, option: Option): string {
  const short = option.short ? `${bold(`-${option.short}`)}, ` : '';
  const value = option.kind === 'value' ? ` ${italic(`<${option.placeholder}>`)}` : '';
  return `${short}${bold(`--${name}`)}${value}`;
}

function optionItems(options: Options): string[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const choices = option.kind === 'value' ? option.choices : undefined;
    return item(
      optionTerm(name, option),
      ...filled(escaped(`${option.about}${choicesText(choices)}`)),
    );
  });
}

/** What is typed: the executable as the shim is asked for it. */
function synopsis(tool: Tool, definition: Command): string[] {
  const positionals = Object.entries(definition.positionals ?? {}).map(([name, spec]) =>
    italic(positionalTitle(name, spec)),
  );
  return filled([bold(titleOf(tool, definition)), italic('[OPTIONS]'), ...positionals].join(' '));
}

function positionalItems(definition: Command): string[] {
  return Object.entries(definition.positionals ?? {}).flatMap(([name, spec]) =>
    item(
      italic(positionalTitle(name, spec)),
      ...filled(escaped(`${spec.about}${choicesText(spec.choices)}`)),
    ),
  );
}

function exitItems(definition: Command): string[] {
  return exitsOf(definition).flatMap(([status, meaning]) =>
    item(bold(String(status)), ...filled(escaped(meaning))),
  );
}

function details(definition: Command): string[] {
  return definition.details ? paragraphs(definition.details) : [];
}

/** The sections of a tool with one command. */
function onlyCommand(tool: Tool, definition: Command): string[] {
  return [
    ...section('SYNOPSIS', synopsis(tool, definition)),
    ...section('DESCRIPTION', [
      ...filled(escaped(`${definition.about}.`)),
      ...(definition.details ? ['.PP', ...details(definition)] : []),
    ]),
    ...section('ARGUMENTS', positionalItems(definition)),
    ...section('OPTIONS', optionItems({ ...definition.options, ...COMMON_OPTIONS })),
    ...section('EXIT STATUS', exitItems(definition)),
    ...section('EXAMPLES', definition.examples ? verbatim(definition.examples) : []),
  ];
}

/** A part of a subcommand under its own small heading. */
function part(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['.PP', escaped(title), ...lines];
}

function subcommand(tool: Tool, definition: Command): string[] {
  return section(
    titleOf(tool, definition),
    [
      ...synopsis(tool, definition),
      '.PP',
      ...filled(escaped(`${definition.about}.`)),
      ...(definition.details ? ['.PP', ...details(definition)] : []),
      ...part('Arguments:', positionalItems(definition)),
      ...part('Options:', optionItems(definition.options ?? {})),
      ...part('Exit status:', exitItems(definition)),
      ...part('Examples:', definition.examples ? verbatim(definition.examples) : []),
    ],
    'SS',
  );
}

function manyCommands(tool: Tool): string[] {
  const lines = tool.commands.flatMap((each, index) => [
    ...(index > 0 ? ['.br'] : []),
    ...synopsis(tool, each),
  ]);
  return [
    ...section('SYNOPSIS', lines),
    ...section('DESCRIPTION', filled(escaped(`${tool.about}.`))),
    ...section(
      'COMMANDS',
      tool.commands.flatMap((each) => subcommand(tool, each)),
    ),
    ...section('OPTIONS', [
      'Every command has these as well:',
      ...optionItems(COMMON_OPTIONS),
      ...item(bold('--version'), 'Print the version, in place of a command'),
    ]),
  ];
}

/** Variables that every executable heeds. */
const ENVIRONMENT = [
  ['RUNNER_ROOT', "The runner's folder, unless --root is given"],
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
