/** `docs/commands.md`: every command with its arguments and options, for those who read on the web. */
import {
  COMMON_OPTIONS,
  type Command,
  positionalTitle,
  type Tool,
  titleOf,
} from '@runner/common/cli/command';
import { choicesText, exitsOf } from '@runner/common/cli/help';
import { type Options, optionTitle } from '@runner/common/cli/option';

/** A cell of a table: a bar would end it, an angle bracket would be a tag. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function optionRows(options: Options): string[] {
  return Object.entries(options).map(([name, option]) => {
    const short = option.short ? `-${option.short}, ` : '';
    const choices = option.kind === 'value' ? choicesText(option.choices) : '';
    return `| \`${short}${optionTitle(name, option)}\` | ${cell(option.about + choices)} |`;
  });
}

function table(heading: string, rows: readonly string[]): string[] {
  return rows.length === 0 ? [] : ['', `| ${heading} | |`, '|---|---|', ...rows];
}

function commandPart(tool: Tool, definition: Command): string[] {
  const positionals = Object.entries(definition.positionals ?? {});
  const titles = positionals.map(([name, spec]) => positionalTitle(name, spec));
  const exits = exitsOf(definition).filter(([status]) => status > 2);
  return [
    '',
    `## ${titleOf(tool, definition)}`,
    '',
    `${definition.about}.`,
    '',
    '```',
    [titleOf(tool, definition), '[OPTIONS]', ...titles].join(' '),
    '```',
    ...(definition.details ? ['', '```text', definition.details.trim(), '```'] : []),
    ...table(
      'argument',
      positionals.map(
        ([name, spec]) =>
          `| \`${positionalTitle(name, spec)}\` | ${cell(spec.about + choicesText(spec.choices))} |`,
      ),
    ),
    ...table('option', optionRows(definition.options ?? {})),
    ...table(
      'exit status',
      exits.map(([status, meaning]) => `| ${status} | ${cell(meaning)} |`),
    ),
    ...(definition.examples ? ['', 'Examples:', '', '```sh', ...definition.examples, '```'] : []),
  ];
}

/** The page. */
export function commandsPage(tools: readonly Tool[]): string {
  const lines = [
    '# Commands',
    '',
    'Made from the definitions of the commands by `npm run docs`, like the manual pages and the',
    'completions: change those, not this page.',
    ...tools.flatMap((tool) => tool.commands.flatMap((each) => commandPart(tool, each))),
    '',
    '## Options of every command',
    ...table('option', optionRows(COMMON_OPTIONS)),
    '',
    'Exit statuses of every command: 0 done, 1 refused or failed, 2 wrong usage; see',
    '[errors](errors.md).',
  ];
  return `${lines.join('\n')}\n`;
}
