import type { Tool } from '@runner/common/cli/command';
import { fetch } from './commands/fetch.ts';

export const tool: Tool = {
  name: 'runner-fetch',
  about: 'Look for new commits, and deploy them',
  commands: [fetch],
};
