/** `docs/commands.md`: every command with its arguments and options, for those who read on the web. */
import { COMMON_OPTIONS, type Command, type Tool, titleOf } from '@runner/common/cli/command';
import { exitRows, optionRows, positionalRows, type Row } from './command-parts.ts';

/** A cell of a table: a bar would end it, an angle bracket would be a tag. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function table(heading: string, rows: readonly Row[], mark = '`'): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(([term, meaning]) => `| ${mark}${term}${mark} | ${cell(meaning)} |`);
  return ['', `| ${heading} | |`, '|---|---|', ...lines];
}

function commandPart(tool: Tool, definition: Command): string[] {
  const title = titleOf(tool, definition);
  const positionals = positionalRows(definition);
  const exits = exitRows(definition).filter(([status]) => Number(status) > 2);
  return [
    '',
    `## ${title}`,
    '',
    `${definition.about}.`,
    '',
    '```',
    [title, '[OPTIONS]', ...positionals.map(([term]) => term)].join(' '),
    '```',
    ...(definition.details ? ['', '```text', definition.details.trim(), '```'] : []),
    ...table('argument', positionals),
    ...table('option', optionRows(definition.options)),
    ...table('exit status', exits, ''),
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
