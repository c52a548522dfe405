import { main } from '@runner/common/cli/main';
import { extract } from './commands/extract.ts';
import { lastError } from './commands/last-error.ts';
import { log } from './commands/log.ts';

main({
  name: 'runner-debug',
  about: 'Show why a deploy failed',
  commands: [lastError, log, extract],
});
