import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { stop } from './commands/stop.ts';

main(toolOf('runner-stop', stop));
