import { main } from '@runner/common/cli/main';
import { add } from './commands/add.ts';
import { list } from './commands/list.ts';
import { remove } from './commands/remove.ts';

main({ name: 'runner-grant', about: 'Say what agents may do', commands: [add, list, remove] });
