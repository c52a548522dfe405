import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { mcp } from './commands/mcp.ts';

main(toolOf('runner-mcp', mcp));
