import { main } from '@runner/common/main';
import { deploy } from './commands/deploy.ts';

main({ name: 'runner-deploy', about: 'Deploy an app from git', commands: [deploy] });
