import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { contract } from './commands/contract.ts';

main(toolOf('runner-contract', contract));
