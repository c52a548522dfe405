import type { Tool } from '@runner/common/cli/command';
import { restart } from './commands/restart.ts';

export const tool: Tool = {
  name: 'runner-restart',
  about: 'Restart an app',
  commands: [restart],
};
