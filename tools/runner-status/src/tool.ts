import type { Tool } from '@runner/common/cli/command';
import { status } from './commands/status.ts';

export const tool: Tool = {
  name: 'runner-status',
  about: 'Show one app in detail, or check all of them',
  commands: [status],
};
