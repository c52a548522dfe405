import { main } from '@runner/common/cli/main';
import { disable } from './commands/disable.ts';
import { enable } from './commands/enable.ts';
import { list } from './commands/list.ts';
import { open, remove, undo } from './commands/one.ts';
import { snippet } from './commands/snippet.ts';
import { sync } from './commands/sync.ts';

main({
  name: 'runner-preview',
  about: 'Deploy pull requests beside their app, and remove them',
  commands: [enable, disable, list, open, remove, undo, snippet, sync],
  meant: 'list',
});
