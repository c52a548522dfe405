import type { Tool } from '@runner/common/cli/command';
import { remove } from './commands/remove.ts';

export const tool: Tool = {
  name: 'runner-remove',
  about: 'Forget an app and stop what runs of it',
  commands: [remove],
};
