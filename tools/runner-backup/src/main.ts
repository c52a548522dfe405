import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { backup } from './commands/backup.ts';

main(toolOf('runner-backup', backup));
