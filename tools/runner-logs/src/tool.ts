import type { Tool } from '@runner/common/cli/command';
import { logs } from './commands/logs.ts';

export const tool: Tool = {
  name: 'runner-logs',
  about: 'Show what an app prints',
  commands: [logs],
};
