import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { driverContract } from '../../libs/deploy/test/drivers/contract.ts';
import { placeHere, statusOf } from '../../libs/deploy/test/drivers/place.ts';
import { makeWorld } from './world.ts';

const execute = promisify(execFile);
const test = suite('pm2 for real');

/** Where the checkout's own programs are, the real pm2 among them. */
const installed = join(distFolder(), '..', 'node_modules/.bin');

/** pm2's own environment: its home is a folder of the test. */
async function startPm2() {
  const home = temporaryFolder('pm2');
  const env = () => ({
    PATH: `${installed}:${dirname(process.execPath)}:${process.env.PATH}`,
    PM2_HOME: home,
  });
  return {
    env,
    async kill() {
      // The daemon by its own number: `pm2 kill` waits for one that may be gone.
      const pid = Number(readFileSync(join(home, 'pm2.pid'), 'utf8'));
      await execute(join(installed, 'pm2'), ['kill'], { env: { ...process.env, ...env() } });
      if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
    },
  };
}

/** An ecosystem file with the app and a worker beside it. */
const ECOSYSTEM = `module.exports = { apps: [
  { name: 'web', script: 'server.js' },
  { name: 'worker', script: 'worker.js' },
] };
`;
const WORKER = 'setInterval(() => {}, 1000);\n';

driverContract(test, 'pm2 with run', async () => {
  const { env, kill } = await startPm2();
  return placeHere(() => 'start: { type: pm2, run: node server.js }', env, kill);
});

driverContract(test, 'pm2 with config', async () => {
  const { env, kill } = await startPm2();
  const place = await placeHere(() => 'start: { type: pm2, config: app.config.js }', env, kill);
  const files = { 'app.config.js': ECOSYSTEM, 'worker.js': WORKER };
  const { git } = place;
  const commit: typeof git.commit = (repo, own, ...rest) =>
    git.commit(repo, { ...files, ...own }, ...rest);
  return { ...place, git: { ...git, commit } };
});

test('pm2 forgets what the next ecosystem file no longer names', async () => {
  const { env, kill } = await startPm2();
  const world = await makeWorld();
  const { port, root } = world;
  const deployFile = `instances: { default: { env: { PORT: "${port}" } } }\nstart: { type: pm2, config: app.config.js }\n`;
  const files = { 'app.config.js': ECOSYSTEM, 'worker.js': WORKER };
  await world.push('v1', { deploy: deployFile, files });
  assert.is((await world.deploy([], env())).status, 0);
  const web = ECOSYSTEM.replace(/.*worker.*\n/, '');
  await world.push('v2', { deploy: deployFile, files: { ...files, 'app.config.js': web } });
  assert.is((await world.deploy([], env())).status, 0);
  const { stdout } = await execute('pm2', ['jlist'], { env: { ...process.env, ...env() } });
  const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
  assert.equal(names, ['web']);
  assert.is(statusOf(root, deployFile, env()), 'running');
  await kill();
  await world.close();
});

test.run();
