import { main } from '@runner/common/cli/main';
import { anchor } from './commands/anchor.ts';
import { emit } from './commands/emit.ts';
import { list } from './commands/list.ts';
import { tail } from './commands/tail.ts';
import { verify } from './commands/verify.ts';

main({
  name: 'runner-audit',
  about: 'Write and read the audit log of deploy events',
  commands: [emit, tail, list, verify, anchor],
});
