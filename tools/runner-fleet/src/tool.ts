import type { Tool } from '@runner/common/cli/command';
import { broker } from './commands/broker.ts';
import { init } from './commands/init.ts';
import { order, sign } from './commands/plumbing.ts';
import { results } from './commands/results.ts';
import { add, list, remove } from './commands/servers.ts';

export const tool: Tool = {
  name: 'runner-fleet',
  about: 'Deploy on several servers through a NATS broker',
  commands: [init, broker, add, remove, list, order, sign, results],
};
