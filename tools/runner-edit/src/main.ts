import { main } from '@runner/common/main';
import { edit } from './commands/edit.ts';

main({
  name: 'runner-edit',
  about: "Change an app's token, branch or repository",
  commands: [edit],
});
