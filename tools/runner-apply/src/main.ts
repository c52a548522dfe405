import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { apply } from './commands/apply.ts';

main(toolOf('runner-apply', apply));
