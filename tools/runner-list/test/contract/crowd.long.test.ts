import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { crowd } from './crowd.ts';
import { startServer } from './server.ts';

test('two of everything at once for half a minute: no update is lost, everybody ends', async () => {
  const server = await startServer();
  const runs = await crowd(server, 30);
  assert.ok(runs >= 60, `${runs} runs`);
  await server.close();
});

test.run();
