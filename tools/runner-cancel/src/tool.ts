import type { Tool } from '@runner/common/cli/command';
import { cancel } from './commands/cancel.ts';

export const tool: Tool = {
  name: 'runner-cancel',
  about: 'Cancel a running deploy',
  commands: [cancel],
};
