import type { Tool } from '@runner/common/cli/command';
import { changes } from './commands/changes.ts';

export const tool: Tool = {
  name: 'runner-changes',
  about: 'List the commits that a deploy would bring',
  commands: [changes],
};
