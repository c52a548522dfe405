/** Instances that do not run: what status and list say, and the way out. */
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { impatient, type World, worldSuite } from './world.ts';

const test = worldSuite('broken');

const rollback = (world: World, ...args: string[]): Promise<Ended> =>
  run('runner-rollback', ['shop', ...args], { root: world.root });

const fetch = (world: World, ...args: string[]): Promise<Ended> =>
  run('runner-fetch', ['--deploy', '--quiet', ...args], { root: world.root });

interface Shown {
  state: string;
  next: string;
  held: unknown;
  instances: {
    instance: string;
    current: { version: string; deployed_at: string } | null;
    active_since: string;
    running: boolean | null;
    broken: { since: string; reason: string } | null;
  }[];
}

async function shown(world: World): Promise<Shown> {
  const { stdout } = await run('runner-status', ['shop', '--json'], { root: world.root });
  return JSON.parse(stdout) as Shown;
}

/** v1 runs, v2 is not healthy, and v1 does not start any more: status 3. Returns what repairs v1. */
async function breakShop(world: World): Promise<() => void> {
  await world.launch('v1');
  const release = join(world.root, 'apps/shop/instances/default', world.current() ?? '');
  renameSync(join(release, 'server.js'), join(release, 'server.away'));
  await world.push('v2', { deploy: impatient(world.port), health: 503 });
  const done = await world.deploy();
  assert.is(done.status, 3, done.stderr);
  return () => renameSync(join(release, 'server.away'), join(release, 'server.js'));
}

test('after a failed rollback status and list say so, and rollback starts what should run', async ({
  world,
}) => {
  const repair = await breakShop(world);
  const before = await shown(world);
  assert.equal([before.state, before.instances[0]?.running], ['broken', false]);
  assert.match(
    before.instances[0]?.broken?.reason ?? '',
    /^(start|health): `exec node server.js` ended/,
  );
  assert.is(before.next, 'not restarted automatically; run: runner rollback shop --to v1');
  const { stdout } = await run('runner-status', ['shop'], { root: world.root });
  assert.match(
    stdout,
    /\n {2}default: +v1 since .*\n +http:.*\n +broken since .*: it could not be started/,
  );
  assert.match((await run('runner-list', [], { root: world.root })).stdout, / broken /);
  const doctor = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.match(doctor.stdout, /shop is broken: default could not be started again/);
  const failed = await rollback(world);
  assert.is(failed.status, 3, failed.stderr);
  assert.is((await shown(world)).instances[0]?.broken?.since, before.instances[0]?.broken?.since);
  repair();
  const done = await rollback(world);
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stdout, /^Started v1 of shop again \[[0-9a-f]{8}\]\n$/);
  assert.is(await world.page(), 'v1');
  const after = await shown(world);
  assert.equal(
    [after.instances[0]?.broken, after.instances[0]?.running, after.held],
    [null, true, null],
  );
});

test('a deploy that succeeds ends it as well', async ({ world }) => {
  await breakShop(world);
  await world.launch('v3');
  const after = await shown(world);
  assert.equal([after.state, after.instances[0]?.broken], ['ok', null]);
});

test('a process that has ended is reported; rollback --to its version, or its commit, starts it again', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  await world.push('v2');
  await world.deploy();
  assert.equal((await shown(world)).instances[0]?.running, true);
  for (const wish of ['v2', String(world.events().at(-1)?.commit)]) {
    const file = join(world.root, 'apps/shop/instances/default/run/pid.json');
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await until(async () => (await world.page()) === null, 'it still answers');
    const dead = await shown(world);
    assert.equal([dead.state, dead.instances[0]?.running], ['down', false]);
    const { stdout } = await run('runner-status', ['shop'], { root: world.root });
    assert.match(stdout, /\n +not running\n/);
    const way = 'not restarted automatically; run: runner start shop';
    const told = await fetch(world);
    const line = `shop: up to date, but down: ${way}\n`;
    assert.equal([told.status, told.stdout, told.stderr], [0, line, '']);
    const json = JSON.parse((await run('runner-fetch', ['--json'], { root: world.root })).stdout);
    assert.equal([json.result, json.version], ['not_running', 'v2']);
    const done = await rollback(world, '--to', wish, '--json');
    const answer = JSON.parse(done.stdout.trimEnd().split('\n').at(-1) ?? '') as {
      restarted?: true;
    };
    assert.equal([done.status, answer.restarted], [0, true], done.stderr);
    assert.is(await world.page(), 'v2');
    assert.equal([(await shown(world)).state, world.state().held], ['ok', null]);
    assert.is((await fetch(world)).stdout, '');
  }
});

test('after a rollback status says since when the version is active again', async ({ world }) => {
  for (const version of ['v1', 'v2']) {
    await world.launch(version);
  }
  const [before] = (await shown(world)).instances;
  assert.is(before?.active_since, before?.current?.deployed_at);
  const done = await rollback(world);
  assert.is(done.status, 0, done.stderr);
  const [after] = (await shown(world)).instances;
  assert.is(after?.current?.version, 'v1');
  assert.ok((after?.active_since ?? '') > (before?.active_since ?? ''));
  const { stdout } = await run('runner-status', ['shop'], { root: world.root });
  const time = after?.active_since.replace('T', ' ').replace(/\.\d+Z/, ' UTC');
  assert.ok(stdout.includes(`v1 since ${time}`), stdout);
});

test('an instance without an earlier version stays, and the others go back', async ({ world }) => {
  const two = `instances: { eu: {}, us: {} }`;
  await world.launch('v1', { deploy: 'instances: { eu: {} }' });
  await world.launch('v2', { deploy: two });
  const done = await rollback(world);
  assert.equal(
    [done.status, done.stderr.split('\n')[0]],
    [0, 'runner rollback: us has no earlier version: it stays at v2'],
  );
  const { instances } = await shown(world);
  assert.equal(
    instances.map(({ current }) => current?.version),
    ['v1', 'v2'],
  );
  const none = await rollback(world, '--instance', 'us');
  assert.equal(
    [none.status, none.stderr],
    [
      1,
      "runner rollback: 'shop' has no earlier version to roll back to for us (version_not_found)\n",
    ],
  );
});

test.run();
