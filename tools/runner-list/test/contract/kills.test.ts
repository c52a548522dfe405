/** Every command that writes, killed ten times (those that build, five); 100 times in the long test. */
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

for (const each of QUICK) killed(10, each);
for (const each of SLOW) killed(5, each);

test.after(async () => (await started).close());
test.run();
