import type { Tool } from '@runner/common/cli/command';
import { ABOUT } from './about.ts';
import { emit } from './commands/emit.ts';
import { list } from './commands/list.ts';
import { tail } from './commands/tail.ts';
import { verify } from './commands/verify.ts';

export const tool: Tool = { ...ABOUT, commands: [emit, tail, list, verify] };
