/** The last line of every program. */

import { redactor } from '../secrets/secret.ts';
import type { Tool } from './command.ts';
import { program } from './program.ts';

/** Runs a tool with this process's arguments and ends the process. */
export function main(tool: Tool): void {
  program(tool, async () => redactor());
}
