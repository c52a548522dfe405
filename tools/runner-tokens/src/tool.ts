import type { Tool } from '@runner/common/cli/command';
import { ABOUT } from './about.ts';
import { listThrough } from './commands/list.ts';
import { rekey } from './commands/rekey.ts';
import { test } from './commands/test.ts';

const list = listThrough(async () => (await import('./groups.ts')).groupTokens);

export const tool: Tool = { ...ABOUT, commands: [list, test, rekey] };
