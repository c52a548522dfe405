/** `runner-tokens list` by itself, with all that opens tokens in one file: whoever asks wants that. */
import { main } from '@runner/common/cli/main';
import { ABOUT } from '../about.ts';
import { listThrough } from '../commands/list.ts';
import { groupTokens } from '../groups.ts';

main({ ...ABOUT, commands: [listThrough(async () => groupTokens)] });
