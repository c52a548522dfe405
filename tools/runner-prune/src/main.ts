import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { prune } from './commands/prune.ts';

main(toolOf('runner-prune', prune));
