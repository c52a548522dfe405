import type { Tool } from '@runner/common/cli/command';
import { report } from './commands/report.ts';

export const tool: Tool = {
  name: 'runner-report',
  about: 'Draw the deploys so far as one page',
  commands: [report],
};
