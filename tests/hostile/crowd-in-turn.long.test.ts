import { test } from 'uvu';
import { crowd } from './crowd.ts';
import { startServer } from './server.ts';

test('two of everything at once, three times each: no update is lost, everybody ends', async () => {
  const server = await startServer();
  process.stdout.write(`(${await crowd(server, 0)})\n`);
  await server.close();
});

test.run();
