import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { changes } from './commands/changes.ts';

main(toolOf('runner-changes', changes));
