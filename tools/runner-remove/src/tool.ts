import type { Tool } from '@runner/common/cli/command';
import { remove } from './commands/remove.ts';

export const tool: Tool = {
  name: 'runner-remove',
  about: 'Remove an app and stop it',
  commands: [remove],
};
