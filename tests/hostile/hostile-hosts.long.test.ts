import { test } from 'uvu';
import { ENDLESS, meetAll } from './hostile-hosts.ts';
import { startServer } from './server.ts';

test('deploy: a host that never comes to an end is left, and nothing has begun', async () => {
  const server = await startServer();
  await meetAll(server, 'deploy', ENDLESS);
  await server.close();
});

test.run();
