import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { report } from './commands/report.ts';

main(toolOf('runner-report', report));
