import type { Tool } from '@runner/common/cli/command';
import { pause } from './commands/pause.ts';

export const tool: Tool = {
  name: 'runner-pause',
  about: 'Pause the automatic deploys of an app',
  commands: [pause],
};
