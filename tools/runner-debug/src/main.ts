import { main } from '@runner/common/main';
import { extract } from './commands/extract.ts';
import { lastError } from './commands/last-error.ts';
import { log } from './commands/log.ts';

main({
  name: 'runner-debug',
  about: 'Tell why the last deploy failed',
  commands: [lastError, log, extract],
});
