import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { driverContract } from '../../libs/deploy/test/drivers/contract.ts';
import { placeHere, statusOf } from '../../libs/deploy/test/drivers/place.ts';
import { ECOSYSTEM, execute, FILES, startPm2 } from './pm2.ts';
import { makeWorld } from './world.ts';

const test = suite('pm2 for real');

driverContract(test, 'pm2 with run', async () => {
  const { env, kill } = await startPm2();
  return placeHere(() => 'start: { type: pm2, run: node server.js }', env, kill);
});

test('pm2 forgets what the next ecosystem file no longer names', async () => {
  const { env, kill } = await startPm2();
  const world = await makeWorld();
  const { port, root } = world;
  const deployFile = `instances: { default: { env: { PORT: "${port}" } } }\nstart: { type: pm2, config: app.config.js }\n`;
  await world.push('v1', { deploy: deployFile, files: FILES });
  assert.is((await world.deploy([], env())).status, 0);
  const web = ECOSYSTEM.replace(/.*worker.*\n/, '');
  await world.push('v2', { deploy: deployFile, files: { ...FILES, 'app.config.js': web } });
  assert.is((await world.deploy([], env())).status, 0);
  const { stdout } = await execute('pm2', ['jlist'], { env: { ...process.env, ...env() } });
  const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
  assert.equal(names, ['web']);
  assert.is(statusOf(root, deployFile, env()), 'running');
  await kill();
  await world.close();
});

test.run();
