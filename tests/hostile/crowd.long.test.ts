import { IS_WHOLE } from '@runner/testing/extent';
import { test } from 'uvu';
import { crowd } from './crowd.ts';
import { startServer } from './server.ts';

test('two of everything at once: no update is lost, and every command ends', async () => {
  const server = await startServer();
  process.stdout.write(`(${await crowd(server, IS_WHOLE ? 30 : 0)})\n`);
  await server.close();
});

test.run();
