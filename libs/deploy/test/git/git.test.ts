import { processIo } from '@runner/common/foundation/io';
import { git } from '@runner/deploy/git/git';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a signal that comes just before git is started ends it, too', async () => {
  const began = performance.now();
  const slow = ['-c', 'alias.slow=!sleep 20', 'slow'];
  const options = { cwd: '/', outside: true, signal: AbortSignal.abort() };
  const ended = await git(processIo(), slow, options).catch((error) => error.code);
  assert.is(ended, 'interrupted');
  assert.ok(performance.now() - began < 10_000);
});

test.run();
