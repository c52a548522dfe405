import type { Tool } from '@runner/common/cli/command';
import { add } from './commands/add.ts';

export const tool: Tool = {
  name: 'runner-add',
  about: 'Register an app to deploy from git',
  commands: [add],
};
