import type { Tool } from '@runner/common/cli/command';
import { start } from './commands/start.ts';

export const tool: Tool = {
  name: 'runner-start',
  about: 'Start an app',
  commands: [start],
};
