import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { waker } from './commands/waker.ts';

main(toolOf('runner-waker', waker));
