import type { Tool } from '@runner/common/cli/command';
import { prune } from './commands/prune.ts';

export const tool: Tool = {
  name: 'runner-prune',
  about: 'Show where the disk goes, and remove what nothing needs',
  commands: [prune],
};
