import { main } from '@runner/common/cli/main';
import { broker } from './commands/broker.ts';
import { approve, deploy, hold, rollback, unhold } from './commands/deploy.ts';
import { events } from './commands/events.ts';
import { fetch } from './commands/fetch.ts';
import { init } from './commands/init.ts';
import { order, send, sign } from './commands/plumbing.ts';
import { results } from './commands/results.ts';
import { cancel, resume, rollouts } from './commands/rollouts.ts';
import { add, list, remove } from './commands/servers.ts';
import { status } from './commands/status.ts';
import { verify } from './commands/verify.ts';

main({
  name: 'runner-fleet',
  about: 'Deploy on several servers through a NATS broker',
  commands: [
    ...[init, broker, add, remove, list],
    ...[deploy, rollback, resume, cancel, hold, unhold, approve, fetch],
    ...[status, rollouts, results, order, sign, send],
    ...[events, verify],
  ],
});
