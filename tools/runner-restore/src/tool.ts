import type { Tool } from '@runner/common/cli/command';
import { restore } from './commands/restore.ts';

export const tool: Tool = {
  name: 'runner-restore',
  about: 'Restore a backup into an empty root',
  commands: [restore],
};
