/** Runs whose process was killed, or whose release was left: what is recorded of them, and what comes next. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { type JobWorld, makeJobWorld } from './world.ts';

const test = suiteOf('jobs that are killed or left', makeJobWorld);

const MINUTE = 60_000;
const begin = new Date();
/** Daily, at the minute in which the test began. */
const NOW = `cron: "${begin.getUTCMinutes()} ${begin.getUTCHours()} * * *"`;
const newsOf = (world: JobWorld) =>
  world
    .events()
    .flatMap(({ event_type: kind, job, version }) => (job ? [`${kind} ${job} ${version}`] : []));

/** Ends the process that carries the run of a job. */
function killCarrier({ root }: JobWorld, job: string): void {
  const lock = join(root, 'locks/jobs/shop', job);
  process.kill(JSON.parse(readFileSync(lock, 'utf8')).pid, 'SIGKILL');
}

test('a killed run is recorded by what comes first, a look or an operator, with its version', async ({
  world,
}) => {
  const gate = join(world.root, '..', 'gate');
  const command = `test -e '${gate}' || exec sleep 300`;
  const jobs = `jobs: { a: { run: "${command}", ${NOW} }, b: { run: "${command}", ${NOW} } }\n`;
  await world.ship('v1', jobs);
  for (const job of ['a', 'b']) world.since(job, 30 * MINUTE);
  await world.look();
  await until(() => ['a', 'b'].every((job) => world.entry(job).run?.version), 'no run has begun');
  await world.ship('v2', jobs);
  for (const job of ['a', 'b']) killCarrier(world, job);
  writeFileSync(gate, '');
  assert.is((await world.jobs(['run', 'shop', 'a'])).status, 0);
  await world.look();
  assert.equal(newsOf(world).sort(), ['JobFailed a v1', 'JobFailed b v1', 'JobRecovered a v2']);
  const outcomes = world.entry('a').runs.map(({ outcome, version }) => `${outcome} ${version}`);
  assert.equal(outcomes, ['ok v2', 'killed v1']);
});

test('a run by hand that is killed is over for the next look, and for the next run', async ({
  world,
}) => {
  const { root } = world;
  await world.ship('v1', 'jobs: { tick: { run: "exec sleep 300", every: 24h } }\n');
  const kill = async () => {
    const before = world.entry('tick').run?.id;
    const byHand = start('runner-jobs', ['run', 'shop', 'tick'], { root });
    const isBegun = () =>
      world.entry('tick').run?.id !== before && world.entry('tick').run?.version;
    await until(isBegun, 'no run has begun');
    killCarrier(world, 'tick');
    await byHand.done;
  };
  await kill();
  assert.is((await world.look()).status, 0);
  assert.is(world.entry('tick').run, null);
  await kill();
  await kill();
  assert.equal(newsOf(world), []);
  assert.equal(
    world.entry('tick').runs.map(({ outcome }) => outcome),
    ['killed', 'killed'],
  );
});

test('a failure is recorded with the version that ran, also when the next one has no such job', async ({
  world,
}) => {
  const gate = join(world.root, '..', 'gate');
  const slow = `while test ! -e '${gate}'; do sleep 0.05; done; exit 3`;
  const other = 'other: { run: "true", every: 24h }';
  await world.ship('v1', `jobs: { tick: { run: "${slow}", ${NOW} }, ${other} }\n`);
  world.since('tick', 30 * MINUTE);
  await world.look();
  await until(() => world.entry('tick').run?.version, 'no run has begun');
  await world.ship('v2', `jobs: { ${other} }\n`);
  writeFileSync(gate, '');
  await until(() => newsOf(world).length > 0, 'nothing is recorded');
  const record = world.events().find(({ event_type: kind }) => kind === 'JobFailed');
  assert.match(String(record?.cause), /^job tick \(.*\) ended with exit status 3$/);
  await world.look();
  await world.look();
  assert.equal(newsOf(world), ['JobFailed tick v1', 'JobRecovered tick v2']);
  const listed = JSON.parse((await world.jobs(['shop', '--json'])).stdout);
  assert.equal(
    listed.jobs.map(({ job }: { job: string }) => job),
    ['other'],
  );
  assert.match((await world.jobs(['log', 'shop', 'tick'])).stdout, /ended with status 3/);
  assert.is((await world.jobs(['run', 'shop', 'tick'])).status, 1);
  // After the way back it is the job that it was.
  await run('runner-rollback', ['shop'], { root: world.root });
  const [back] = JSON.parse((await world.jobs(['shop', '--json'])).stdout).jobs;
  assert.equal([back.job, back.last.outcome, back.trouble], ['tick', 'failed', null]);
  await world.look();
  assert.is(world.entry('tick').run, null);
});

test('after a deploy, kill ends the run of the deploy before', async ({ world }) => {
  const gate = join(world.root, '..', 'gate');
  const slow = `while test ! -e '${gate}'; do sleep 0.05; done`;
  const jobs = `jobs: { warm: { run: "${slow}", after: deploy, overlap: kill } }\n`;
  await world.ship('v1', jobs);
  await until(() => world.entry('warm').run?.version, 'no run has begun');
  await world.ship('v2', jobs);
  await until(() => world.entry('warm').run?.version === 'v2', 'no run has begun');
  writeFileSync(gate, '');
  await world.over('warm', 2);
  const outcomes = world.entry('warm').runs.map(({ outcome, version }) => `${outcome} ${version}`);
  assert.equal(outcomes, ['ok v2', 'ended v1']);
});

test.run();
