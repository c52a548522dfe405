import { main } from '@runner/common/cli/main';
import { list } from './commands/list.ts';
import { rekey } from './commands/rekey.ts';
import { test } from './commands/test.ts';

main({
  name: 'runner-tokens',
  about: 'Show which apps share which code-host token',
  commands: [list, test, rekey],
});
