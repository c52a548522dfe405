import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { why } from './commands/why.ts';

main(toolOf('runner-why', why));
