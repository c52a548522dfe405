import { main } from '@runner/common/cli/main';
import { files } from './commands/files.ts';
import { importSecrets } from './commands/import.ts';
import { list } from './commands/list.ts';
import { set } from './commands/set.ts';
import { unset } from './commands/unset.ts';

main({
  name: 'runner-env',
  about: 'Manage the secrets of an app',
  commands: [set, importSecrets, list, unset, files],
});
