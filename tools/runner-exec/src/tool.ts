import type { Tool } from '@runner/common/cli/command';
import { exec } from './commands/exec.ts';

export const tool: Tool = {
  name: 'runner-exec',
  about: 'Run a command in the active release of an app',
  commands: [exec],
};
