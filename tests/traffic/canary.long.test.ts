/** A release gets a share of the requests first: it is promoted, or only its share ever met it. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runningPid } from '@runner/common/files/process';
import { killApp } from '@runner/testing/app';
import { start } from '@runner/testing/run';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { type ProxyResponse, request } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { begin, CANARY, canarySuite, nextOf, shareOf, sharesOf } from './canary.ts';
import { runningSlots } from './world.ts';

const test = canarySuite('canary');

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
  assert.match(status.stdout, /watch: +v2 is watched until .* UTC\n[\s\S]* runner watch shop\n/);
  assert.is((await world.runner('rollback', 'shop')).status, 0);
  assert.equal([sharesOf(world), nextOf(world)], [0, world.live()]);
  assert.equal(await shareOf(proxy.port, 'v1'), { share: 100, lost: 0 });
});

test('what is found at each share is shown meanwhile, and a share that was not judged is named', async ({
  world,
}) => {
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, '');
  const more = CANARY.replace('logs: false', `logs: false, access_log: "${log}"`);
  await world.ship('v1', 'good', CANARY);
  await until(() => !world.state().watch, 'the watch does not end');
  await world.push('v2', { deploy: trafficFile(more), files: trafficFiles('v2') });
  const deploy = start('runner-deploy', ['shop', '--json'], { root: world.root });
  await until(() => sharesOf(world) === 1, 'no share');
  const watching = start('runner-watch', ['shop'], { root: world.root });
  const busy = await world.runner('rollback', 'shop');
  assert.match(
    busy.stderr,
    /'shop' is busy: deploy of v2, at canary .*; runner cancel shop withdraws it/,
  );
  await until(() => existsSync(join(world.root, 'apps/shop/watch.json')), 'nothing is shown');
  const status = await world.runner('status', 'shop');
  assert.match(
    status.stdout,
    /canary: +v2 has 5 % of the requests until .* UTC\n +health of default: /,
  );
  const done = await deploy.done;
  assert.is(done.status, 0, done.stderr);
  for (const percent of [5, 25])
    assert.match(done.stderr, new RegExp(`canary: at ${percent} %: not judged: .*requests: 5xx`));
  const { canary } = JSON.parse(done.stdout.trim().split('\n').at(-1) as string);
  const found = canary.map(({ percent, verdict }: Record<string, unknown>) => [percent, verdict]);
  assert.equal(found, [
    [5, 'not_judged'],
    [25, 'not_judged'],
  ]);
  const record = world.events().findLast(({ event_type: kind }) => kind === 'DeploySuccess');
  assert.equal(record?.canary, canary);
  const { status: end, stdout } = await watching.done;
  assert.is(end, 3, stdout);
  assert.match(stdout, /^shop v2 has 5 % of the requests, judged until .* UTC\n/);
  assert.match(
    stdout,
    /\nshop v2 has 25 % of the requests[\s\S]*\nshop v2 is watched until[\s\S]*\nNot judged: shop v2/,
  );
});

test('a release gets all requests once the version that has the others dies', async ({
  world,
  proxy,
}) => {
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, '');
  for (const [version, more] of [
    ['v1', ''],
    ['v2', ''],
    ['v3', `, access_log: "${log}"`],
  ] as const) {
    const rules = CANARY.replace('10s, logs: false', `5m, logs: false${more}`);
    await world.push(version, { deploy: trafficFile(rules), files: trafficFiles(version) });
    const deploy = start('runner-deploy', ['shop'], { root: world.root });
    if (version !== 'v1') {
      await until(() => sharesOf(world) === 1, 'no share');
      process.kill(-Number(runningPid(join(world.dir, 'run', world.live() ?? ''))), 'SIGKILL');
    }
    // Behind a proxy most of the answers are errors now.
    const timer = setInterval(() => appendFileSync(log, '- - - [] "GET / HTTP/1.1" 502 1\n'), 50);
    const done = await deploy.done.finally(() => clearInterval(timer));
    assert.is(done.status, 0, done.stderr);
    if (version !== 'v1') assert.match(done.stderr, /canary: at 5 %: v[12] of default ended while/);
    assert.equal(await shareOf(proxy.port, version), { share: 100, lost: 0 });
  }
  const { canary } = world.events().findLast((event) => event.canary) as { canary: unknown[] };
  assert.is(canary.length, 1);
});

test('a deploy that fails does not say that a version keeps serving whose process has ended', async ({
  world,
}) => {
  const file = 'traffic: { type: socket, drain: 500ms }\n';
  await world.ship('v1', 'good', file);
  killApp(world.root, 'shop');
  const failed = await world.ship('v2', 'unhealthy', file);
  assert.match(
    failed.stderr,
    /v1 is not running \(runner start shop starts it\), nothing was switched/,
  );
});

test('what a kill or a cancel leaves of a trial is withdrawn', async ({ world, proxy }) => {
  await world.ship('v1', 'good', CANARY);
  const live = world.live();
  const killed = await begin(world, 'v2');
  await until(() => sharesOf(world) === 1, 'no share');
  process.kill(killed.pid, 'SIGKILL');
  await killed.done;
  assert.is(sharesOf(world), 1);
  const died =
    "the deploy of v2 of 'shop' was killed at its canary: it still has (?:5 %|its share) of the requests; runner cancel shop withdraws it";
  const status = await world.runner('status', 'shop');
  assert.match(status.stdout.replace(/\s+/g, ' '), new RegExp(`canary: ${died}`));
  const watched = await world.runner('watch', 'shop');
  assert.is(watched.status, 3);
  // What was found before may come first.
  assert.match(watched.stdout, new RegExp(`(?:^|\\n)Not watched: ${died}\\n$`));
  // Also of the requests that it gets meanwhile.
  const answers: Promise<ProxyResponse>[] = [];
  const visits = setInterval(() => answers.push(request(proxy.port)), 10);
  const withdrawn = await world.runner('cancel', 'shop');
  clearInterval(visits);
  const lost = (await Promise.all(answers)).filter(({ status }) => status !== 200);
  assert.equal(lost, [], `of ${answers.length}`);
  const hold = 'It is on hold until the next push or runner deploy shop.\n';
  assert.match(withdrawn.stdout, /^Cancelled the deploy of shop v2 at canary .*v1 is active\.\n/);
  assert.ok(withdrawn.stdout.endsWith(hold), withdrawn.stdout);
  assert.match((await world.runner('fetch', '--deploy')).stdout, 'shop: on hold: v2 was withdrawn');
  assert.equal([world.live(), sharesOf(world), nextOf(world)], [live, 0, live]);
  assert.equal(runningSlots(world), [live]);
  const again = start('runner-deploy', ['shop'], { root: world.root });
  await until(() => sharesOf(world) === 1, 'no share');
  const cancelled = await world.runner('cancel', 'shop');
  assert.match(cancelled.stdout, /^Cancelled the deploy of shop v2 at canary/);
  assert.ok(cancelled.stdout.endsWith(hold), cancelled.stdout);
  assert.is((await again.done).status, 130);
  assert.match((await world.runner('fetch', '--deploy')).stdout, 'shop: on hold: v2 was withdrawn');
  assert.equal([world.live(), sharesOf(world), nextOf(world)], [live, 0, live]);
  assert.equal(await shareOf(proxy.port, 'v1'), { share: 100, lost: 0 });
  assert.ok(existsSync(join(world.dir, 'share')));
});

test.run();
