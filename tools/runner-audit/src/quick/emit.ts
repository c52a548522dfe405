/** `runner-audit emit` by itself: pipelines start it for every event. */
import { main } from '@runner/common/main';
import { ABOUT } from '../about.ts';
import { emit } from '../commands/emit.ts';

main({ ...ABOUT, commands: [emit] });
