/** The contract's hostile records, 2,000 on each channel. */
import type { ChannelName } from '@runner/common/config/channels';
import { test } from 'uvu';
import { type Chats, startChats } from './chats.ts';
import { takesAnything } from './hostile-records.ts';
import { SUBJECTS } from './subjects.ts';

let chats: Chats;
test.before(async () => {
  chats = await startChats();
});
test.after(() => chats.close());

for (const name of Object.keys(SUBJECTS))
  test(`${name}: of 2,000 hostile records none is refused, altered or calls anyone`, () =>
    takesAnything(name as ChannelName, chats, 1_000));

test.run();
