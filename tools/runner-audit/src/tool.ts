import type { Tool } from '@runner/common/cli/command';
import { anchor } from './commands/anchor.ts';
import { emit } from './commands/emit.ts';
import { list } from './commands/list.ts';
import { tail } from './commands/tail.ts';
import { verify } from './commands/verify.ts';

export const tool: Tool = {
  name: 'runner-audit',
  about: 'Write and read the audit log of deploy events',
  commands: [emit, tail, list, verify, anchor],
};
