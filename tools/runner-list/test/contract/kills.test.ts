/** `kill -9` of every command that writes, at random moments; 100 times in the long test. */
import { test } from 'uvu';
import { QUICK } from './kill-cases.ts';
import { storm } from './kills.ts';
import { startServer } from './server.ts';

const started = startServer();

for (const [what, of] of QUICK) {
  test(`killed 10 times, ${what}`, async () => {
    const server = await started;
    const root = server.copy();
    await storm(root, 10, of(root, server));
  });
}

test.after(async () => (await started).close());
test.run();
