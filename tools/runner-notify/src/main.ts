import { main } from '@runner/common/main';
import { send } from './commands/send.ts';

main({
  name: 'runner-notify',
  about: 'Announce deploys in Telegram and Discord',
  commands: [send],
});
