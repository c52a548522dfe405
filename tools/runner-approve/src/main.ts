import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { approve } from './commands/approve.ts';

main(toolOf('runner-approve', approve));
