import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { logs } from './commands/logs.ts';

main(toolOf('runner-logs', logs));
