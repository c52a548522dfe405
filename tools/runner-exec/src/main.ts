import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { exec } from './commands/exec.ts';

main(toolOf('runner-exec', exec));
