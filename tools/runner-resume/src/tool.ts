import type { Tool } from '@runner/common/cli/command';
import { resume } from './commands/resume.ts';

export const tool: Tool = {
  name: 'runner-resume',
  about: 'Resume the automatic deploys of an app',
  commands: [resume],
};
