import type { Tool } from '@runner/common/cli/command';
import { stats } from './commands/stats.ts';

export const tool: Tool = {
  name: 'runner-stats',
  about: 'Count deploys, failures, and how long they took',
  commands: [stats],
};
