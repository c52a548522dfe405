import type { Tool } from '@runner/common/cli/command';
import { report } from './commands/report.ts';

export const tool: Tool = {
  name: 'runner-report',
  about: 'Draw the deploys as an HTML page',
  commands: [report],
};
