import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { edit } from './commands/edit.ts';

main(toolOf('runner-edit', edit));
