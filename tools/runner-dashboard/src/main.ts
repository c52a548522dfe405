import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { dashboard } from './commands/dashboard.ts';

main(toolOf('runner-dashboard', dashboard));
