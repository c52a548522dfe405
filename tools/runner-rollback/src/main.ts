import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { rollback } from './commands/rollback.ts';

main(toolOf('runner-rollback', rollback));
