import { main } from '@runner/common/cli/main';
import { list } from './commands/list.ts';
import { log } from './commands/log.ts';
import { pause, resume } from './commands/pause.ts';
import { run } from './commands/run.ts';

main({
  name: 'runner-jobs',
  about: 'Run the jobs of apps at their times, and show how they went',
  commands: [list, run, log, pause, resume],
  meant: 'list',
});
