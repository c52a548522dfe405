import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { restore } from './commands/restore.ts';

main(toolOf('runner-restore', restore));
