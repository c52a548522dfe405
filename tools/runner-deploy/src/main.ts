import { main } from '@runner/common/main';
import { tool } from './tool.ts';

main(tool);
