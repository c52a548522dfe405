import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { start } from './commands/start.ts';

main(toolOf('runner-start', start));
