import { main } from '@runner/common/main';
import { add } from './commands/add.ts';

main({ name: 'runner-add', about: 'Register an app to deploy from git', commands: [add] });
