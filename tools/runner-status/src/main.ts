import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { status } from './commands/status.ts';

main(toolOf('runner-status', status));
