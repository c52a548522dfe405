import type { Tool } from '@runner/common/cli/command';
import { history } from './commands/history.ts';

export const tool: Tool = {
  name: 'runner-history',
  about: 'List the deploys, one per line',
  commands: [history],
};
