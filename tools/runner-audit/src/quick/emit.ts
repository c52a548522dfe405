/** `runner-audit emit` by itself: pipelines start it for every event. Most events need no redactor. */
import { main } from '@runner/common/cli/main';
import { ABOUT } from '../about.ts';
import { emit } from '../commands/emit.ts';

main({ ...ABOUT, commands: [emit] });
