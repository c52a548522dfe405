import { toolOf } from '@runner/common/cli/command';
import { main } from '@runner/common/cli/main';
import { fetch } from './commands/fetch.ts';

main(toolOf('runner-fetch', fetch));
