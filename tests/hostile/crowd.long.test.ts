import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { crowd } from './crowd.ts';
import { startServer } from './server.ts';

test('two of each command at the same time lose no update, and all end', async () => {
  const server = await startServer();
  process.stdout.write(`(${await crowd(server, IS_WHOLE ? 30 : 0)})\n`);
  await server.close();
});

test.run();
