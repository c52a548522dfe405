import type { Tool } from '@runner/common/cli/command';
import { extract } from './commands/extract.ts';
import { lastError } from './commands/last-error.ts';
import { log } from './commands/log.ts';

export const tool: Tool = {
  name: 'runner-debug',
  about: 'Show why a deploy failed',
  commands: [lastError, log, extract],
};
