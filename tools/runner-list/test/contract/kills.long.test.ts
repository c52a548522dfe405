/** `kill -9` of every command that writes, 100 times at random moments. */
import { test } from 'uvu';
import { type Case, QUICK, SLOW } from './kill-cases.ts';
import { storm } from './kills.ts';
import { startServer } from './server.ts';

const started = startServer();

function killed(times: number, [what, of]: Case): void {
  test(`killed ${times} times, ${what}`, async () => {
    const server = await started;
    const root = server.copy();
    await storm(root, times, of(root, server));
  });
}

for (const each of QUICK) killed(100, each);
for (const each of SLOW) killed(100, each);

test.after(async () => (await started).close());
test.run();
