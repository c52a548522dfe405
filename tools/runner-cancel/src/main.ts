import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { cancel } from './commands/cancel.ts';

main(toolOf('runner-cancel', cancel));
