/**
 * The completions of bash, zsh and fish. All three ask one POSIX sh program, completion/words.sh, which
 * holds the commands as tables; what is the shell's own is a few lines each.
 */
import { COMMON_OPTIONS, type Command, type Tool } from '@runner/common/cli/command';
import type { HelpRow } from '@runner/common/cli/help';
import type { Option, Options } from '@runner/common/cli/option';
import { DEFAULT_ROOT } from '@runner/common/foundation/paths';
import type { ShimHelp } from './shim.ts';

/** The sources in scripts/docs/reference/completion, by file name. */
export type Templates = Readonly<
  Record<'words.sh' | 'runner.bash' | 'runner.zsh' | 'runner.fish', string>
>;

/** The placeholder says what a value is; the others are any text. */
const KIND_OF_PLACEHOLDER: Readonly<Record<string, string>> = {
  APP: 'app',
  DIR: 'folder',
  FILE: 'file',
  REF: 'version',
  VERSION: 'version',
};
/** Names that say it better than their placeholder; the same for options and arguments. */
const KIND_OF_NAME: Readonly<Record<string, string>> = {
  app: 'app',
  apps: 'app',
  deploy: 'deploy',
  'deploy-id': 'deploy',
  ids: 'message',
  instance: 'instance',
  project: 'app',
  to: 'previous',
};

/** The same for arguments alone. */
const KIND_OF_ARGUMENT: Readonly<Record<string, string>> = { name: 'secret', names: 'secret' };

/** Words to choose from, in one word. */
const oneOf = (choices: readonly string[]): string => `=${choices.join(',')}`;

function kindOfOption(name: string, option: Option): string {
  if (!option.placeholder) return 'flag';
  if (option.choices) return oneOf(option.choices);
  return KIND_OF_NAME[name] ?? KIND_OF_PLACEHOLDER[option.placeholder] ?? 'any';
}

/** Options that cannot stand beside one: those that it names, and those that name it. */
function conflictsOf(name: string, options: Options): string[] {
  const naming = Object.keys(options).filter((other) => options[other]?.conflicts?.includes(name));
  const named = (options[name]?.conflicts ?? []).filter((other) => Object.hasOwn(options, other));
  return [...new Set([...named, ...naming])].map((other) => `--${other}`);
}

function optionRow(name: string, options: Options): string {
  const option = options[name] as Option;
  const short = option.short ? `-${option.short}` : '';
  const kind = kindOfOption(name, option);
  const conflicts = conflictsOf(name, options).join(' ');
  return [`--${name}`, short, kind, conflicts, option.about].join('|');
}

/** The kinds of the arguments. */
function slotsOf(definition: Command): string {
  return Object.entries(definition.positionals ?? {})
    .map(([name, spec]) => {
      const choices = spec.choices ?? spec.suggestions;
      const kind = choices
        ? oneOf(choices)
        : (KIND_OF_NAME[name] ?? KIND_OF_ARGUMENT[name] ?? 'any');
      return `${kind}${spec.many ? '...' : ''}`;
    })
    .join(' ');
}

/** A word of sh. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const branch = (pattern: string, ...assignments: readonly string[]): string =>
  `    ${quoted(pattern)}) ${assignments.join(' ')} ;;`;

const lines = (rows: readonly HelpRow[]): string =>
  rows.map(([name, about]) => `${name}|${about}`).join('\n');

function commandTable(shim: ShimHelp, tools: readonly Tool[]): string {
  const ours = tools.map(({ name, about }): HelpRow => [name.replace(/^runner-/, ''), about]);
  const several = tools.filter(({ commands }) => commands[0]?.name !== '');
  const long = shim.options.map(
    ([term, about]): HelpRow => [/--[a-z-]+/.exec(term)?.[0] ?? term, about],
  );
  return [
    branch('runner', `rows=${quoted(lines([...ours, ['help', 'Print the help of a command']]))}`),
    branch('runner options', `rows=${quoted(lines(long))}`),
    ...several.map(({ name, commands }) =>
      branch(name, `rows=${quoted(lines(commands.map((each) => [each.name, each.about])))}`),
    ),
  ].join('\n');
}

function definitionTable(tools: readonly Tool[]): string {
  return tools
    .flatMap((tool) =>
      tool.commands.map((definition) => {
        const options: Options = { ...definition.options, ...COMMON_OPTIONS };
        const rows = Object.keys(options).map((name) => optionRow(name, options));
        return branch(
          [tool.name, definition.name].filter(Boolean).join(' '),
          `slots=${quoted(slotsOf(definition))}`,
          `rows=${quoted(rows.join('\n'))}`,
        );
      }),
    )
    .join('\n');
}

/** `@NAME@` by its text, whatever that holds. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/@([A-Z]+)@/g, (whole, name: string) => values[name] ?? whole);
}

/**
 * The completions: for `runner completion` in lib/completion, and in share/ as the shells' folders
 * for vendors want them, with a file for every name that bash and fish may look for.
 */
export function completionFiles(
  shim: ShimHelp,
  tools: readonly Tool[],
  templates: Templates,
): [file: string, text: string][] {
  const program = fill(templates['words.sh'], {
    ROOT: DEFAULT_ROOT,
    COMMANDS: commandTable(shim, tools),
    DEFINITIONS: definitionTable(tools),
  }).trimEnd();
  const names = tools.map(({ name }) => name);
  const values = { WORDS: program, NAMES: ['runner', ...names].join(' ') };
  const bash = fill(templates['runner.bash'], values);
  const zsh = fill(templates['runner.zsh'], values);
  // In single quotes of fish two characters are special.
  const inQuotes = program.replace(/[\\']/g, '\\$&');
  const fish = fill(templates['runner.fish'], { ...values, WORDS: inQuotes });
  const bashFolder = 'share/bash-completion/completions';
  const fishFolder = 'share/fish/vendor_completions.d';
  return [
    ['lib/completion/runner.bash', bash],
    ['lib/completion/runner.zsh', zsh],
    ['lib/completion/runner.fish', fish],
    [`${bashFolder}/runner`, bash],
    ['share/zsh/vendor-completions/_runner', zsh],
    [`${fishFolder}/runner.fish`, fish],
    ...names.flatMap((name): [string, string][] => [
      [`${bashFolder}/${name}`, '. "${BASH_SOURCE[0]%/*}/runner"\n'],
      [`${fishFolder}/${name}.fish`, 'source (status dirname)/runner.fish\n'],
    ]),
  ];
}
