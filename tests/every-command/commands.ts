/** All executables and their commands, as the build and their own help list them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';

export interface CommandLine {
  /** The executable, such as `runner-tokens`. */
  readonly tool: string;
  /** The words that choose the command: none, or its name. */
  readonly words: readonly string[];
  readonly help: string;
}

/** The executables that Node runs. */
export function toolNames(): string[] {
  return readdirSync(join(distFolder(), 'bin')).filter((name) => name.startsWith('runner-'));
}

/** The help of a tool or of one of its commands. */
async function helpOf(tool: string, ...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(tool, [...words, '--help']);
  if (status !== 0 || stderr !== '') throw new Error(`${tool} ${words.join(' ')}: ${stderr}`);
  return stdout;
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
  const tools = await Promise.all(
    toolNames().map(async (tool) => ({ tool, words: [], help: await helpOf(tool) })),
  );
  const nested = await Promise.all(
    tools.map(async ({ tool, help }) => {
      const names = commandsIn(help);
      if (names.length === 0) return [{ tool, words: [], help }];
      return Promise.all(
        names.map(async (name) => ({ tool, words: [name], help: await helpOf(tool, name) })),
      );
    }),
  );
  return { tools, commands: nested.flat() };
}
