import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { verify } from './commands/verify.ts';

main(toolOf('runner-verify', verify));
