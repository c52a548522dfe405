/** A release gets a share of the requests first: it is promoted, or only its share ever met it. */
import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { start } from '@runner/testing/run';
import { type Manner, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { type ProxyRoute, request, startProxy } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld, runningSlots, type TrafficWorld } from './world.ts';

const test = suite<{ world: TrafficWorld; proxy: ProxyRoute }>('canary');
const CANARY =
  'traffic: { type: socket, drain: 500ms }\nwatch: { for: 10s, logs: false }\ncanary: [5%, 25%]\n';

test.before.each(async (context) => {
  const world = await makeTrafficWorld();
  // As a proxy does it that has the snippet: a bucket for each client.
  let client = 0;
  const proxy = await startProxy(() => {
    client = (client + 7) % 20;
    const bucket = String(client).padStart(2, '0');
    return { socketPath: join(world.dir, 'share', bucket, 'app.sock') };
  });
  Object.assign(context, { world, proxy });
});
test.after.each(async ({ world, proxy }) => {
  proxy.close();
  killApp(world.root, 'shop');
  await world.close();
});

const nextOf = ({ dir }: TrafficWorld) => readlinkSync(join(dir, 'next'));
const sharesOf = ({ dir }: TrafficWorld) =>
  Array.from({ length: 20 }, (_, at) =>
    readlinkSync(join(dir, 'share', String(at).padStart(2, '0'))),
  ).filter((target) => target === '../next').length;

/** Begins to deploy a version, with requests all the while, until it has the shares. */
async function begin(world: TrafficWorld, version: string, manner: Manner = 'good') {
  const deploy = trafficFile(CANARY);
  await world.push(version, { deploy, files: trafficFiles(version, manner) });
  return start('runner-deploy', ['shop'], { root: world.root });
}

/** How many of 200 requests were answered by a version, in percent; and how many got no answer. */
async function shareOf(port: number, version: string) {
  const answers = await Promise.all(Array.from({ length: 200 }, () => request(port)));
  return {
    share: answers.filter((each) => each.version === version).length / 2,
    lost: answers.filter(({ status }) => status !== 200).length,
  };
}

test('a release gets 5 %, then 25 %, then all of the requests, and none is lost', async ({
  world,
  proxy,
}) => {
  assert.is((await world.ship('v1', 'good', CANARY)).status, 0);
  assert.equal([sharesOf(world), nextOf(world)], [0, world.live()]);
  const deploy = await begin(world, 'v2');
  for (const [count, percent] of [
    [1, 5],
    [5, 25],
  ] as const) {
    await until(() => sharesOf(world) === count, `no ${percent} %`);
    assert.not.equal(nextOf(world), world.live());
    assert.equal(await shareOf(proxy.port, 'v2'), { share: percent, lost: 0 });
    const { deploying } = world.state() as { deploying: { stage: string } };
    assert.is(deploying.stage, 'canary');
  }
  const done = await deploy.done;
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, /ok +5 % of the requests to default for 10 s/);
  assert.equal([sharesOf(world), nextOf(world)], [0, world.live()]);
  assert.equal(await shareOf(proxy.port, 'v2'), { share: 100, lost: 0 });
  const doctor = await world.runner('doctor', '--offline');
  assert.not.match(doctor.stdout, /share|next/);
  const status = await world.runner('status', 'shop');
  assert.match(status.stdout, /watch: +v2 is watched until .* UTC\n +runner watch shop\n/);
  assert.is((await world.runner('rollback', 'shop')).status, 0);
  assert.equal([sharesOf(world), nextOf(world)], [0, world.live()]);
  assert.equal(await shareOf(proxy.port, 'v1'), { share: 100, lost: 0 });
});

test('a release that dies in its share is withdrawn: the others never met it', async ({
  world,
  proxy,
}) => {
  await world.ship('v1', 'good', CANARY);
  const live = world.live();
  const deploy = await begin(world, 'v2', 'fading');
  await until(() => sharesOf(world) === 1, 'no share');
  const done = await deploy.done;
  assert.is(done.status, 1, done.stderr);
  assert.match(done.stderr, /canary: at 5 %: (?:health of default|process of default)/);
  assert.equal([world.live(), sharesOf(world), nextOf(world)], [live, 0, live]);
  assert.equal(await shareOf(proxy.port, 'v1'), { share: 100, lost: 0 });
  assert.equal(runningSlots(world), [live]);
  const failed = world.events().at(-1);
  assert.equal([failed?.event_type, failed?.stage], ['DeployFailure', 'canary']);
});

test('what a kill or a cancel leaves of a trial is withdrawn', async ({ world, proxy }) => {
  await world.ship('v1', 'good', CANARY);
  const live = world.live();
  const killed = await begin(world, 'v2');
  await until(() => sharesOf(world) === 1, 'no share');
  process.kill(killed.pid, 'SIGKILL');
  await killed.done;
  assert.is(sharesOf(world), 1);
  assert.is((await world.runner('deploy', 'shop', '--ref', 'nothing')).status, 1);
  assert.equal([world.live(), sharesOf(world), nextOf(world)], [live, 0, live]);
  assert.equal(runningSlots(world), [live]);
  const again = start('runner-deploy', ['shop'], { root: world.root });
  await until(() => sharesOf(world) === 1, 'no share');
  const cancelled = await world.runner('cancel', 'shop');
  assert.match(cancelled.stdout, /^Cancelled the deploy of shop v2 at canary/);
  assert.is((await again.done).status, 130);
  assert.equal([world.live(), sharesOf(world), nextOf(world)], [live, 0, live]);
  assert.equal(await shareOf(proxy.port, 'v1'), { share: 100, lost: 0 });
  assert.ok(existsSync(join(world.dir, 'share')));
});

test.run();
