import { main } from '@runner/common/cli/main';
import { check } from './commands/check.ts';
import { claim } from './commands/claim.ts';
import { exec } from './commands/exec.ts';
import { init } from './commands/init.ts';
import { keys } from './commands/keys.ts';
import { run } from './commands/run.ts';
import { ship } from './commands/ship.ts';
import { status } from './commands/status.ts';

main({
  name: 'runner-agent',
  about: 'Carry out signed orders on this server',
  commands: [init, keys, check, run, status, exec, ship, claim],
});
