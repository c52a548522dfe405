import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { deploy } from './commands/deploy.ts';

main(toolOf('runner-deploy', deploy));
