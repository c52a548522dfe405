import type { Tool } from '@runner/common/cli/command';
import { list } from './commands/list.ts';
import { rekey } from './commands/rekey.ts';
import { test } from './commands/test.ts';

export const tool: Tool = {
  name: 'runner-tokens',
  about: 'Show which apps share which code-host token',
  commands: [list, test, rekey],
};
