/** `kill -9` of every command that writes, 100 times at random moments. */
import { test } from 'uvu';
import { QUICK, SLOW } from './kill-cases.ts';
import { storm } from './kills.ts';
import { startServer } from './server.ts';

const started = startServer();

for (const [what, of] of [...QUICK, ...SLOW]) {
  test(`killed 100 times, ${what}`, async () => {
    const server = await started;
    const root = server.copy();
    await storm(root, 100, of(root, server));
  });
}

test.after(async () => (await started).close());
test.run();
