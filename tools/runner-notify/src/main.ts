import { main } from '@runner/common/cli/main';
import { digest } from './commands/digest.ts';
import { flush } from './commands/flush.ts';
import { preview } from './commands/preview.ts';
import { queue } from './commands/queue.ts';
import { send } from './commands/send.ts';
import { setup } from './commands/setup.ts';
import { status } from './commands/status.ts';
import { test } from './commands/test.ts';

main({
  name: 'runner-notify',
  about: 'Announce deploys in chats, by e-mail and webhook',
  commands: [setup, test, status, send, flush, queue, preview, digest],
});
