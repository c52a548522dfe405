import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { crowd } from './crowd.ts';
import { startServer } from './server.ts';

test('two of everything at once for five seconds: no update is lost, everybody ends', async () => {
  const server = await startServer();
  const runs = await crowd(server, 5);
  assert.ok(runs >= 20, `${runs} runs`);
  await server.close();
});

test.run();
