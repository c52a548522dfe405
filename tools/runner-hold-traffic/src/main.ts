import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { holdTrafficCommand } from './commands/hold-traffic.ts';

main(toolOf('runner-hold-traffic', holdTrafficCommand));
