import type { Tool } from '@runner/common/cli/command';
import { ABOUT } from './about.ts';
import { list } from './commands/list.ts';
import { rekey } from './commands/rekey.ts';
import { test } from './commands/test.ts';

export const tool: Tool = { ...ABOUT, commands: [list, test, rekey] };
