/** What meets traffic: a restart, an app that an operator stopped, and versions without traffic. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { makeTrafficWorld } from './world.ts';

const test = suiteOf('seams of traffic', makeTrafficWorld);

test('a killed start, stop or restart is finished for all instances, and recorded', async ({
  world,
}) => {
  const file = (version: string) =>
    `instances: { a: {}, b: {} }\nstart: { type: process, run: "exec sleep 1000.${version}", stop_timeout: 1s }\n`;
  await world.launch('v0', { deploy: file('1') });
  const pidOf = (name: string) => {
    const path = join(world.root, `apps/shop/instances/${name}/run/pid.json`);
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).pid : 0;
  };
  const pid = (name: string) => pidOf(name) > 1 && existsSync(`/proc/${pidOf(name)}`);
  for (const [verb, runs, kind] of [
    ['stop', false, 'AppStopped'],
    ['start', true, 'AppStarted'],
    ['restart', true, 'AppRestarted'],
  ] as const) {
    const before = [pidOf('a'), pidOf('b')];
    const running = start(`runner-${verb}`, ['shop'], { root: world.root });
    const isBegun = () => world.state().deploying !== null;
    await until(isBegun, `no journal of ${verb}`);
    process.kill(running.pid, 'SIGKILL');
    await running.done;
    const next = await world.runner('fetch', 'shop', '--deploy');
    assert.is(next.status, 0, next.stderr);
    // A command that had ended needs no finishing.
    if (world.kinds().at(-1) !== kind) await world.runner(verb, 'shop');
    assert.equal([pid('a'), pid('b')], [runs, runs], verb);
    if (verb === 'restart')
      for (const name of ['a', 'b']) assert.not.ok(before.includes(pidOf(name)), name);
    assert.equal(world.kinds().slice(-2), [kind, kind]);
    assert.is(world.state().deploying, null);
  }
});

test('folders that an app has left in a slot keep no later version from starting', async ({
  world,
}) => {
  assert.is((await world.ship('v1')).status, 0);
  for (const name of ['app.sock', 'env', 'current', '.current.tmp'])
    mkdirSync(join(world.dir, 'b', name, 'more'), { recursive: true });
  const data = join(world.dir, 'b/uploads/more');
  mkdirSync(data, { recursive: true });
  const done = await world.ship('v2');
  assert.is(done.status, 0, done.stderr);
  assert.is(world.live(), 'b');
  assert.ok(existsSync(data), 'what is not in the way stays');
});

test('a release with a canary and overlap: false, which earlier versions deployed, can be restarted', async ({
  world,
}) => {
  const deploy = trafficFile().replace('drain: 2s', 'drain: 2s, overlap: false');
  await world.push('v1', { deploy, files: trafficFiles('v1') });
  assert.is((await world.deploy()).status, 0);
  const files = join(world.root, 'apps/shop/files');
  for (const name of readdirSync(files).filter((each) => each.endsWith('.deploy.yml')))
    appendFileSync(join(files, name), 'watch: 1m\ncanary: [5%]\n');
  for (const verb of ['restart', 'stop', 'start']) {
    const done = await world.runner(verb, 'shop');
    assert.is(done.status, 0, done.stdout + done.stderr);
  }
});

test.run();
