import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startLoad } from '@runner/testing/traffic-proxy';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { execute, startPm2 } from '../deploys/pm2.ts';
import { makeTrafficWorld } from './world.ts';

const test = suite('traffic with pm2');

for (const [what, start] of [
  ['a command', 'run: node server.js'],
  ['an ecosystem file', 'config: app.config.js'],
]) {
  test(`pm2 with ${what} runs one version in each slot`, async () => {
    const { env, kill } = await startPm2();
    const world = await makeTrafficWorld();
    const ship = async (version: string) => {
      const deploy = trafficFile().replace(/start: .*/, `start: { type: pm2, ${start} }`);
      const config = "module.exports = { apps: [{ name: 'web', script: 'server.js' }] };\n";
      const files = { ...trafficFiles(version), 'app.config.js': config };
      await world.push(version, { deploy, files });
      return world.deploy([], env());
    };
    const first = await ship('v0');
    assert.is(first.status, 0, first.stderr);
    const load = startLoad(world.proxy.port);
    const second = await ship('v1');
    assert.is(second.status, 0, second.stderr);
    assert.equal((await load.end()).failed, []);
    assert.is((await request(world.proxy.port)).version, 'v1');
    const { stdout } = await execute('pm2', ['jlist'], { env: { ...process.env, ...env() } });
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    assert.is(names.length, 1);
    assert.match(names[0] ?? '', start?.startsWith('run') ? /^runner-shop-default-b-/ : /^web-b$/);
    await kill();
    await world.close();
  });
}

test.run();
