/** Jobs of an app: they belong to its release, run at their times, and their failures are reported once. */
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, gate, suiteOf } from '../deploys/world.ts';
import { dueNow, MINUTE, newsOf } from './jobs.ts';
import { type JobWorld, makeJobWorld } from './world.ts';

const test = suiteOf('jobs', makeJobWorld);

test('a job runs in the active release, at its time and by hand, and its output is kept', async ({
  world,
}) => {
  const jobs = `jobs: { tick: { run: "echo $RUNNER_VERSION $RUNNER_JOB of $RUNNER_DEPLOY_ID", ${dueNow()} } }\n`;
  assert.is((await world.ship('v1', jobs)).status, 0);
  const listed = await world.jobs(['shop']);
  assert.match(
    listed.stdout,
    /^APP +JOB +WHEN +LAST +NEXT\nshop +tick +\S+ \S+ \* \* \* UTC +never +\d{4}-/,
  );
  const byHand = await world.jobs(['run', 'shop', 'tick']);
  assert.equal([byHand.status, byHand.stderr.includes('v1 tick')], [0, true], byHand.stderr);
  const deploys = world.events().filter(({ event_type: kind }) => kind === 'DeploySuccess');
  assert.ok(byHand.stderr.includes(`v1 tick of ${deploys[0]?.deploy_id}\n`), byHand.stderr);
  assert.match(byHand.stdout, /^Done: shop tick in \d\.\d s\n$/);
  const runs = await world.jobs(['shop', 'tick']);
  assert.match(
    runs.stdout,
    /^BEGAN +DUE +OUTCOME +TOOK +VERSION +RUN +REASON\n\S+ \S+ UTC +- +ok +\d\.\d s +v1 +\S+\n$/,
  );
  // Nothing is due.
  world.since('tick', 0);
  assert.equal(await quiet(world.look()), [0, '', '']);
  assert.is(world.entry('tick').runs.length, 1);
  world.since('tick', 30 * MINUTE);
  assert.equal(await quiet(world.look()), [0, '', '']);
  await world.over('tick', 2);
  assert.match((await world.jobs(['log', 'shop', 'tick'])).stdout, /\nv1 tick of /);
  // Each time once.
  await world.look();
  assert.is(world.entry('tick').runs.length, 2);
  assert.is((await world.ship('v2', jobs)).status, 0);
  await world.jobs(['run', 'shop', 'tick']);
  assert.is(world.entry('tick').runs[0]?.version, 'v2');
  assert.equal(newsOf(world), []);
});

test('a job may have a name that every object of JavaScript has', async ({ world }) => {
  await world.ship('v1', 'jobs: { toString: { run: "echo hello", every: 24h } }\n');
  const done = await world.jobs(['run', 'shop', 'toString']);
  assert.equal([done.status, done.stderr.includes('hello')], [0, true], done.stderr);
});

test('an app whose jobs cannot be read does not hide those of the others', async ({ world }) => {
  const { root } = world;
  await world.ship('v1', 'jobs: { tick: { run: "true", every: 24h } }\n');
  const add = ['acme/blog', '--branch', 'main', '--public'];
  assert.is((await run('runner-add', add, { root })).status, 0);
  writeFileSync(join(root, 'apps/blog/jobs.json'), '{}');
  const { status, stdout, stderr } = await world.jobs([]);
  assert.is(status, 1);
  assert.match(stdout, /\nshop +tick /);
  assert.match(stderr, /^runner jobs list: jobs of blog: .* is damaged: .* \(state_malformed\)\n$/);
});

test('a book of jobs of another shape is damaged, not a bug', async ({ world }) => {
  await world.ship('v1', 'jobs: { tick: { run: "true", every: 24h } }\n');
  const path = join(world.root, 'apps/shop/jobs.json');
  const book = JSON.parse(readFileSync(path, 'utf8'));
  for (const damage of [
    { rules: {} },
    { next: 7 },
    { run: {} },
    { paused: 'x' },
    { runs: [null] },
  ]) {
    const jobs = { tick: { ...book.jobs.tick, ...damage } };
    writeFileSync(path, JSON.stringify({ ...book, jobs }));
    const { status, stderr } = await world.jobs(['shop']);
    assert.equal([status, /\(state_malformed\)\n$/.test(stderr)], [1, true], stderr);
    assert.is((await run('runner-status', ['shop'], { root: world.root })).status, 0);
  }
});

test('why names the log of a job that fails, and the deploy that was killed', async ({ world }) => {
  const jobs = `jobs: { tick: { run: "echo no such table; exit 2", ${dueNow()} } }\n`;
  assert.is((await world.ship('v1', jobs)).status, 0);
  world.since('tick', 30 * MINUTE);
  await world.look();
  await world.over('tick', 1);
  const why = async () => (await run('runner-why', ['shop'], { root: world.root })).stdout;
  assert.match(await why(), /because: +job tick failed: [\s\S]*type: +runner jobs log shop tick\n/);
  const { build, reached } = gate();
  await world.push('v2', { deploy: deployFile(world.port, jobs + build) });
  const killed = start('runner-deploy', ['shop'], { root: world.root });
  await reached();
  process.kill(killed.pid, 'SIGKILL');
  await killed.done;
  assert.match(await why(), /^shop: interrupted\n +because: +a deploy was killed during build\n/);
});

async function quiet(ended: ReturnType<JobWorld['look']>) {
  const { status, stdout, stderr } = await ended;
  return [status, stdout, stderr];
}

test('a run that is killed gives one record, ends what it started and is not run again', async ({
  world,
}) => {
  await world.ship('v1', `jobs: { tick: { run: "sleep 300", ${dueNow()} } }\n`);
  world.since('tick', 30 * MINUTE);
  await world.look();
  await until(() => world.entry('tick').run?.version, 'no run has begun');
  const lock = join(world.root, 'locks/jobs/shop/tick');
  process.kill(JSON.parse(readFileSync(lock, 'utf8')).pid, 'SIGKILL');
  const file = join(world.root, 'apps/shop/jobs.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/("run":\{[^}]*"at":")\d{4}/, '$12020'));
  await world.look();
  await world.look();
  assert.equal(newsOf(world), ['JobFailed tick']);
  assert.is(world.entry('tick').runs[0]?.outcome, 'killed');
  assert.is(world.entry('tick').run, null);
});

test('what a job uses is not counted as what the app uses', async ({ world }) => {
  // The app runs under a supervisor of its own, without the names that runner gives.
  const app = createServer();
  await new Promise<void>((resolve) => app.unref().listen(0, '127.0.0.1', resolve));
  const { port } = app.address() as AddressInfo;
  const deploy = `start: { type: command, run: "true" }\nhealth: { tcp: "127.0.0.1:${port}" }\njobs: { tick: { run: "sleep 300", ${dueNow()} } }\n`;
  await world.push('v1', { deploy });
  assert.is((await world.deploy()).status, 0);
  const usage = async () => {
    const { stdout } = await run('runner-status', ['shop', '--json'], { root: world.root });
    return JSON.parse(stdout).usage;
  };
  world.since('tick', 30 * MINUTE);
  await world.look();
  const begun = () => world.entry('tick').run?.version;
  await until(begun, 'no run has begun');
  assert.equal(await usage(), {});
});

test.run();
