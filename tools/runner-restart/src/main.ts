import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { restart } from './commands/restart.ts';

main(toolOf('runner-restart', restart));
