import type { Tool } from '@runner/common/cli/command';
import { history } from './commands/history.ts';

export const tool: Tool = {
  name: 'runner-history',
  about: 'Show the deploys so far, one a line',
  commands: [history],
};
