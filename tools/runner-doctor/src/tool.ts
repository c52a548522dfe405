import type { Tool } from '@runner/common/cli/command';
import { doctor } from './commands/doctor.ts';

export const tool: Tool = {
  name: 'runner-doctor',
  about: 'Check this installation, and show how to fix it',
  commands: [doctor],
};
