import type { Tool } from '@runner/common/cli/command';
import { deploy } from './commands/deploy.ts';

export const tool: Tool = {
  name: 'runner-deploy',
  about: 'Deploy an app from git',
  commands: [deploy],
};
