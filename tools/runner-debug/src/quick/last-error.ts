/** `runner-debug last-error` by itself: what is typed first when a deploy has failed. */
import { main } from '@runner/common/cli/main';
import { ABOUT } from '../about.ts';
import { lastError } from '../commands/last-error.ts';

main({ ...ABOUT, commands: [lastError] });
