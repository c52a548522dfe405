import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { init } from './commands/init.ts';

main(toolOf('runner-init', init));
