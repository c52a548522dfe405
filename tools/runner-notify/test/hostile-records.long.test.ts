/** The contract's hostile records, 2,000 on each channel. */
import type { ChannelName } from '@runner/common/config/channels';
import { test } from 'uvu';
import { type Chats, startChats } from './chats.ts';
import { takesAnyKind, takesAnything, takesLongest } from './hostile-records.ts';
import { SUBJECTS } from './subjects.ts';

let chats: Chats;
test.before(async () => {
  chats = await startChats();
});
test.after(() => chats.close());

for (const name of Object.keys(SUBJECTS))
  test(`${name}: of 2,000 hostile records none is refused, altered or calls anyone`, async () => {
    await takesAnything(name as ChannelName, chats, 1_000);
    await takesAnyKind(name as ChannelName, chats, 500);
    await takesLongest(name as ChannelName, chats);
  });

test.run();
