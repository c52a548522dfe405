import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { list } from './commands/list.ts';

main(toolOf('runner-list', list));
