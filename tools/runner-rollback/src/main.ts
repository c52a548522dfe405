import { main } from '@runner/common/main';
import { rollback } from './commands/rollback.ts';

main({ name: 'runner-rollback', about: 'Bring the version before back', commands: [rollback] });
