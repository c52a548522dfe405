import type { Tool } from '@runner/common/cli/command';
import { edit } from './commands/edit.ts';

export const tool: Tool = {
  name: 'runner-edit',
  about: "Change an app's token, branch or repository",
  commands: [edit],
};
