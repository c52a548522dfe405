import { test } from 'uvu';
import { crowd } from './crowd.ts';
import { startServer } from './server.ts';

test('two of everything at once for half a minute: no update is lost, everybody ends', async () => {
  const server = await startServer();
  process.stdout.write(`(${await crowd(server, 30)})\n`);
  await server.close();
});

test.run();
