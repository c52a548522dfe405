/** Whether a connection is accepted, asked by a process that is busy meanwhile. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connect } from '../../src/instances/reach.ts';

test('a socket that answers while this process is busy for longer than the timeout is not late', async () => {
  const path = join(temporaryFolder('busy'), 'app.sock');
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.unref().listen(path, resolve));
  // From here on timers come before what can be read.
  await new Promise(setImmediate);
  const asked = Array.from({ length: 20 }, () => connect({ path, timeout: 50 }));
  const end = performance.now() + 300;
  while (performance.now() < end);
  assert.equal(new Set(await Promise.all(asked)), new Set([undefined]));
  server.close();
});

test.run();
