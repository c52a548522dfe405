/** `runner(1)`: the shim, and every executable that it hands over to. */
import type { Tool } from '@runner/common/cli/command';
import type { HelpRow } from '@runner/common/cli/help';
import { bold, escaped, filled, italic, item, page, section } from './roff.ts';
import type { ShimHelp } from './shim.ts';
import { lowered, reference } from './tool-page.ts';

function rows(entries: readonly HelpRow[]): string[] {
  return entries.flatMap(([term, meaning]) =>
    item(bold(term.replace(/ +/g, ' ')), ...filled(escaped(meaning))),
  );
}

/** The page; `see` are the other pages. */
export function runnerPage(
  shim: ShimHelp,
  tools: readonly Tool[],
  version: string,
  see: readonly string[],
): string {
  const commands = tools.map(({ name, about }): HelpRow => [name.replace(/^runner-/, ''), about]);
  return page('runner', 1, version, [
    ...section('NAME', filled(`runner \\- ${escaped(lowered(shim.about))}`)),
    ...section('SYNOPSIS', filled(`${bold('runner')} ${italic('<COMMAND> [ARGS]...')}`)),
    ...section('DESCRIPTION', [
      ...filled(
        escaped(
          'runner <COMMAND> becomes runner-<COMMAND>, the executable beside it or, where there is none, the ' +
            'first one in an absolute folder of PATH: any program called runner-<name> is a command as ' +
            'well. Each executable may also be run by its own name.',
        ),
      ),
    ]),
    ...section('COMMANDS', rows(commands)),
    ...section('OPTIONS', rows(shim.options)),
    ...section('EXIT STATUS', [...filled(escaped("The command's own, or:")), ...rows(shim.exits)]),
    ...section(
      'ENVIRONMENT',
      item(
        bold('RUNNER_ROOT'),
        ...filled(escaped('Folder that holds everything, unless --root is given')),
      ),
    ),
    ...section('FILES', item(bold('/opt/runner'), 'Folder that holds everything')),
    ...section('SEE ALSO', filled(see.map(reference).join(', '))),
  ]);
}
