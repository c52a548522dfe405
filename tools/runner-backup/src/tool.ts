import type { Tool } from '@runner/common/cli/command';
import { backup } from './commands/backup.ts';

export const tool: Tool = {
  name: 'runner-backup',
  about: 'Write an encrypted backup of everything that is not in git',
  commands: [backup],
};
