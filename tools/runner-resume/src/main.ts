import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { resume } from './commands/resume.ts';

main(toolOf('runner-resume', resume));
