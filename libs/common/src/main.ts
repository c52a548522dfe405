/** The last line of every program. */
import type { Tool } from './command.ts';
import { program } from './program.ts';
import { redactor } from './secret.ts';

/** Runs a tool with this process's arguments and ends the process. */
export function main(tool: Tool): void {
  program(tool, async () => redactor());
}
