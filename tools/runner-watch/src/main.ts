import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { watch } from './commands/watch.ts';

main(toolOf('runner-watch', watch));
