import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { remove } from './commands/remove.ts';

main(toolOf('runner-remove', remove));
