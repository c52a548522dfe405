import type { Tool } from '@runner/common/cli/command';
import { prune } from './commands/prune.ts';

export const tool: Tool = {
  name: 'runner-prune',
  about: 'Show disk usage, and remove what is no longer needed',
  commands: [prune],
};
