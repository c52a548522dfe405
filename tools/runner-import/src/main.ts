import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { importFile } from './commands/import.ts';

main(toolOf('runner-import', importFile));
