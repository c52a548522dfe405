import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { history } from './commands/history.ts';

main(toolOf('runner-history', history));
