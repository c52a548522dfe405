import type { Tool } from '@runner/common/cli/command';
import { completion } from './commands/completion.ts';

export const tool: Tool = {
  name: 'runner-completion',
  about: 'Print the completion for bash, zsh or fish',
  commands: [completion],
};
