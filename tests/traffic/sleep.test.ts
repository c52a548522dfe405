import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { socketOf, Wakes } from '../../tools/runner-waker/src/wakes.ts';
import { fallAsleep, HOST, sleepSuite } from './sleep.ts';
import { askHost, fetch } from './sleep-world.ts';

const test = sleepSuite('sleep');

test('an idle preview falls asleep, and its first request wakes it', async ({ world }) => {
  await fallAsleep(world);
  const { proxy, dir, root } = world;
  assert.match(readFileSync(join(dir, 'current/VERSION'), 'utf8'), 'v0');
  const shown = await world.runner('status', 'shop');
  assert.match(shown.stdout, /asleep since .*, wakes on request\n/);
  const listed = JSON.parse((await world.runner('list', '--json')).stdout).apps[0];
  assert.is(listed.state, 'asleep');
  assert.is(listed.instances[0].running, null);
  await fetch(root);
  await world.runner('start', '--boot');
  assert.is(world.live(), 'a.asleep');
  const posted = await askHost(proxy, HOST, ['first ', 'second']);
  assert.equal([posted.status, posted.text], [200, 'first second']);
  assert.is(world.live(), 'a');
  assert.is((await askHost(proxy, HOST)).text, 'shop v0');
  await until(() => world.kinds().at(-1) === 'AppStarted', 'no record');
  const records = world.events().slice(-2);
  assert.equal(
    records.map(({ event_type: kind }) => kind),
    ['AppStopped', 'AppStarted'],
  );
  assert.match(String(records[0]?.reason), /^asleep: no request for /);
  assert.is(records[1]?.reason, 'woken by a request');
  assert.not(world.kinds().includes('AppDown'));
});

test('while the states cannot be read requests get 503, and the waker goes on', async ({
  world,
}) => {
  await fallAsleep(world);
  const state = join(world.root, 'state');
  renameSync(state, `${state}.away`);
  writeFileSync(state, '');
  assert.is((await askHost(world.proxy, HOST)).status, 503);
  rmSync(state);
  renameSync(`${state}.away`, state);
  assert.is((await askHost(world.proxy, HOST)).text, 'shop v0');
});

test('an app that something else wakes while its start begins can be woken again', async ({
  world,
}) => {
  const point = (target: string) => {
    symlinkSync(target, join(world.dir, 'new'));
    renameSync(join(world.dir, 'new'), join(world.dir, 'live'));
  };
  writeFileSync(join(world.root, '../runner-start'), '');
  let starts = 0;
  const io = {
    env: {},
    get program() {
      starts += 1;
      point('a');
      return join(world.root, '../runner');
    },
  };
  const paths = pathsOf(world.root);
  const wakes = new Wakes({ io, paths } as unknown as ConstructorParameters<typeof Wakes>[0]);
  const instance = paths.app('shop').instance('default');
  const sleeper = { app: 'shop', instance: 'default', paths: instance };
  for (const count of [1, 2]) {
    point('a.asleep');
    assert.is(await wakes.wake(sleeper, 5_000), undefined);
    assert.equal([starts, socketOf(sleeper) !== undefined], [count, true]);
  }
});

test.run();
