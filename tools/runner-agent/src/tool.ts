import type { Tool } from '@runner/common/cli/command';
import { check } from './commands/check.ts';
import { exec } from './commands/exec.ts';
import { init } from './commands/init.ts';
import { keys } from './commands/keys.ts';
import { run } from './commands/run.ts';
import { ship } from './commands/ship.ts';
import { status } from './commands/status.ts';

export const tool: Tool = {
  name: 'runner-agent',
  about: 'Carry out signed orders on this server',
  commands: [init, keys, check, run, status, exec, ship],
};
