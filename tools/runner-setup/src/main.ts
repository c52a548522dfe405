import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { setup } from './commands/setup.ts';

main(toolOf('runner-setup', setup));
