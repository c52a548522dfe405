import type { Tool } from '@runner/common/cli/command';
import { list } from './commands/list.ts';

export const tool: Tool = {
  name: 'runner-list',
  about: 'Show the registered apps and what is running',
  commands: [list],
};
