/** An app exchanges folders for links while runner works in them: nothing outside is read or written. */
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import { attacked, levels, makeRoot, register } from './exchanged.ts';

test('prune', async () => {
  const { root, own } = await makeRoot();
  await register(root);
  await attacked(
    async () => [...levels(join(own, 'releases/.tmp-dead')), ...levels(join(own, 'releases/r1'))],
    () => run('runner-prune', ['shop'], { root }),
  );
});

test.run();
