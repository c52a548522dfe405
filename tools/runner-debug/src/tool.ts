import type { Tool } from '@runner/common/cli/command';
import { ABOUT } from './about.ts';
import { extract } from './commands/extract.ts';
import { lastError } from './commands/last-error.ts';
import { log } from './commands/log.ts';

export const tool: Tool = { ...ABOUT, commands: [lastError, log, extract] };
