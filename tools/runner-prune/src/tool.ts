import type { Tool } from '@runner/common/cli/command';
import { prune } from './commands/prune.ts';

export const tool: Tool = {
  name: 'runner-prune',
  about: 'Show how much disk the apps use, and remove what is no longer needed',
  commands: [prune],
};
