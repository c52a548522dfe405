import { main } from '@runner/common/cli/main';
import { add } from './commands/add.ts';
import { list } from './commands/list.ts';
import { remove } from './commands/remove.ts';
import { serve } from './commands/serve.ts';
import { wait } from './commands/wait.ts';

main({
  name: 'runner-bell',
  about: 'Let a push on the code host start a deploy immediately',
  commands: [add, list, remove, serve, wait],
  meant: 'serve',
});
