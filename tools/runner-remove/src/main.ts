import { main } from '@runner/common/main';
import { remove } from './commands/remove.ts';

main({
  name: 'runner-remove',
  about: 'Forget an app and stop what runs of it',
  commands: [remove],
});
