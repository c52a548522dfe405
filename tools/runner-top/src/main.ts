import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { top } from './commands/top.ts';

main(toolOf('runner-top', top));
