import type { Tool } from '@runner/common/cli/command';
import { rollback } from './commands/rollback.ts';

export const tool: Tool = {
  name: 'runner-rollback',
  about: 'Roll back to the previous version',
  commands: [rollback],
};
