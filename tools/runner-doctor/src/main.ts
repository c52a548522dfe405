import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { doctor } from './commands/doctor.ts';

main(toolOf('runner-doctor', doctor));
