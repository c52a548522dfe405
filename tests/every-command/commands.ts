/** All executables and their commands, as the build and their own help list them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '@runner/testing/run';
import { runLoading } from './loaded.ts';

export interface CommandName {
  /** The executable, such as `runner-tokens`. */
  readonly tool: string;
  /** The words that choose the command: none, or its name. */
  readonly words: readonly string[];
}

export interface CommandLine extends CommandName {
  readonly help: string;
  /** What the help loaded beside the executable. */
  readonly loaded: readonly string[];
}

/** The executables that Node runs. */
export function toolNames(): string[] {
  return readdirSync(join(distFolder(), 'bin')).filter((name) => name.startsWith('runner-'));
}

/** Every command, as the built docs/commands.md lists them: no executable is asked. */
export function commandNames(): CommandName[] {
  const page = readFileSync(join(distFolder(), 'share/doc/runner/commands.md'), 'utf8');
  return [...page.matchAll(/^## runner (\S+)(?: (\S+))?$/gm)].map(([, name, word]) => ({
    tool: `runner-${name}`,
    words: word === undefined ? [] : [word],
  }));
}

/** A tool or one of its commands, asked for its help. */
async function askedFor(tool: string, ...words: string[]): Promise<CommandLine> {
  const { status, stdout, stderr, loaded } = await runLoading(tool, [...words, '--help']);
  if (status !== 0 || stderr !== '') throw new Error(`${tool} ${words.join(' ')}: ${stderr}`);
  return { tool, words, help: stdout, loaded };
}

/** Names that stand in the section `Commands:` of a help; none for a tool of one command. */
export function commandsIn(help: string): string[] {
  const section = /\nCommands:\n((?: {2}\S.*\n| {3,}.*\n)+)/.exec(help)?.[1] ?? '';
  return [...section.matchAll(/^ {2}(\S+)/gm)].map((match) => match[1] ?? '');
}

interface All {
  /** Each tool with its own help. */
  readonly tools: readonly CommandLine[];
  readonly commands: readonly CommandLine[];
}

let asked: Promise<All> | undefined;

/** Every tool and every command, asked once. */
export function allCommands(): Promise<All> {
  asked ??= askAll();
  return asked;
}

async function askAll(): Promise<All> {
  const tools = await Promise.all(toolNames().map((tool) => askedFor(tool)));
  const nested = await Promise.all(
    tools.map((line) => {
      const names = commandsIn(line.help);
      return names.length === 0
        ? [line]
        : Promise.all(names.map((name) => askedFor(line.tool, name)));
    }),
  );
  return { tools, commands: nested.flat() };
}
