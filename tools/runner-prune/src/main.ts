import { main } from '@runner/common/cli/main';
import { tool } from './tool.ts';

main(tool);
