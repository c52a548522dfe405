import type { Tool } from '@runner/common/cli/command';
import { stop } from './commands/stop.ts';

export const tool: Tool = {
  name: 'runner-stop',
  about: 'Stop an app',
  commands: [stop],
};
