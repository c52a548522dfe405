import { main } from '@runner/common/main';
import { list } from './commands/list.ts';

main({ name: 'runner-list', about: 'Show the registered apps and what runs', commands: [list] });
