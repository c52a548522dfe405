import type { Tool } from '@runner/common/cli/command';
import { report } from './commands/report.ts';

export const tool: Tool = {
  name: 'runner-report',
  about: 'Write an HTML report of the deploys',
  commands: [report],
};
