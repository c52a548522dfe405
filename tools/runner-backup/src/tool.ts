import type { Tool } from '@runner/common/cli/command';
import { backup } from './commands/backup.ts';

export const tool: Tool = {
  name: 'runner-backup',
  about: 'Write an encrypted backup of everything that git does not have',
  commands: [backup],
};
