import { main } from '@runner/common/main';
import { status } from './commands/status.ts';

main({ name: 'runner-status', about: 'Show one app in detail', commands: [status] });
