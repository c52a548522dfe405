/** `kill -9` of deploy, fetch --deploy and rollback at random moments; 100 times in the long test. */
import { test } from 'uvu';
import { SLOW } from './kill-cases.ts';
import { storm } from './kills.ts';
import { startServer } from './server.ts';

const started = startServer();

for (const [what, of] of SLOW) {
  test(`killed 3 times, ${what}`, async () => {
    const server = await started;
    const root = server.copy();
    await storm(root, 3, of(root, server));
  });
}

test.after(async () => (await started).close());
test.run();
