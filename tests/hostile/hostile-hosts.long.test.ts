/** Every command with every answer; also those that end only when git gives the host up. */
import { test } from 'uvu';
import { ANSWERS, ASKING, type Asking, meetAll } from './hostile-hosts.ts';
import { startServer } from './server.ts';

const started = startServer();

for (const asking of Object.keys(ASKING) as Asking[]) {
  test(`${asking}: whatever the host answers, a sentence in bounded time`, async () => {
    await meetAll(await started, asking, Object.keys(ANSWERS));
  });
}

test.after(async () => (await started).close());
test.run();
