import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { pause } from './commands/pause.ts';

main(toolOf('runner-pause', pause));
