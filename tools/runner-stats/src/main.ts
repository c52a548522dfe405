import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { stats } from './commands/stats.ts';

main(toolOf('runner-stats', stats));
