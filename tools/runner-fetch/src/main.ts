import { main } from '@runner/common/main';
import { fetch } from './commands/fetch.ts';

main({ name: 'runner-fetch', about: 'Look for new commits, and deploy them', commands: [fetch] });
