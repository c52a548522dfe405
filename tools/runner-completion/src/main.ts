import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { completion } from './commands/completion.ts';

main(toolOf('runner-completion', completion));
