import { renameSync, symlinkSync } from 'node:fs';
import { IS_WHOLE } from '@runner/testing/extent';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
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

if (IS_WHOLE)
  driverContract(test, 'pm2 with config', async () => {
    const { env, kill } = await startPm2();
    const place = await placeHere(() => 'start: { type: pm2, config: app.config.js }', env, kill);
    const { git } = place;
    const commit: typeof git.commit = (repo, own, ...rest) =>
      git.commit(repo, { ...FILES, ...own }, ...rest);
    return { ...place, git: { ...git, commit } };
  });

/** Prints what it is asked for. */
const PRINTING = `const { createServer } = require('node:http');
const server = createServer(({ url }, answer) => { console.log('asked', url); answer.end(); });
server.listen(process.env.PORT, '127.0.0.1', () => console.log('began'));
`;

test('logs --since shows what pm2 wrote after the last look before that time', async () => {
  const { env, kill } = await startPm2();
  const world = await makeWorld();
  const { port, root } = world;
  const deploy = `instances: { default: { env: { PORT: "${port}" } } }\nstart: { type: pm2, run: app.js }\n`;
  await world.push('v1', { deploy, files: { 'app.js': PRINTING } });
  assert.is((await world.deploy([], env())).status, 0);
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}/${path}`);
  const since = (time: string) =>
    run('runner-logs', ['shop', '--since', time], { root, env: env() });
  const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
  const printed = (last: string) =>
    until(async () => (await since('1h')).stdout.endsWith(`${last}\n`), `the line ${last}`);
  await printed('began');
  await ask('before');
  await printed('asked /before');
  await run('runner-fetch', [], { root, env: env() });
  await pause();
  const time = new Date().toISOString();
  assert.is((await since(time)).stdout, '');
  await pause();
  await ask('after');
  await printed('asked /after');
  const shown = await since(time);
  assert.is(shown.stdout, 'asked /after\n');
  const [, from = ''] = /: lines carry no time: shown from (\S+) on\n$/.exec(shown.stderr) ?? [];
  assert.ok(from !== '' && from < time, shown.stderr);
  assert.is((await run('runner-restart', ['shop'], { root, env: env() })).status, 0);
  await printed('began');
  assert.is((await since(time)).stdout, 'asked /after\nbegan\n');
  await kill();
  await world.close();
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

test('what pm2 runs is still the app after the root was moved, and by a link to it', async () => {
  const { env, kill } = await startPm2();
  const world = await makeWorld();
  const deploy = `instances: { default: { env: { PORT: "${world.port}" } } }\nstart: { type: pm2, run: server.js }\n`;
  await world.push('v1', { deploy });
  assert.is((await world.deploy([], env())).status, 0);
  const root = `${world.root}-moved`;
  renameSync(world.root, root);
  const moved = await run('runner-restart', ['shop'], { root, env: env() });
  assert.is(moved.status, 0, moved.stdout);
  symlinkSync(root, world.root);
  const linked = await run('runner-stop', ['shop'], { root: world.root, env: env() });
  assert.is(linked.status, 0, linked.stdout);
  const { stdout } = await execute('pm2', ['jlist'], { env: { ...process.env, ...env() } });
  assert.equal(JSON.parse(stdout), []);
  await kill();
  await world.close();
});

test.run();
