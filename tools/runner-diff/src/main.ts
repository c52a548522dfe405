import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { diff } from './commands/diff.ts';

main(toolOf('runner-diff', diff));
