import { PLANNED_VERBS } from '@runner/common/apps/plans';
import { main } from '@runner/common/cli/main';
import { list } from './commands/list.ts';
import { planning } from './commands/make.ts';
import { show } from './commands/show.ts';

main({
  name: 'runner-plan',
  about: 'Show what a command would do, for approval',
  commands: [...PLANNED_VERBS.map(planning), list, show],
});
