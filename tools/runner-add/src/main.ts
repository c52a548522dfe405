import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { add } from './commands/add.ts';

main(toolOf('runner-add', add));
