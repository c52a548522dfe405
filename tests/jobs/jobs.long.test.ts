/** Jobs of an app: they belong to its release, run at their times, and their failures are reported once. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { takeLock } from '@runner/common/files/lock';
import { processesWhere } from '@runner/deploy/run/processes';
import { IDENTITY, RECIPIENT } from '@runner/testing/age-key';
import { killApp } from '@runner/testing/app';
import { run, start } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { suiteOf } from '../deploys/world.ts';
import { DAY, dailyAt, dueNow, MINUTE, newsOf } from './jobs.ts';
import { makeJobWorld } from './world.ts';

const test = suiteOf('jobs', makeJobWorld);

test('schedule and release change together, also back', async ({ world }) => {
  await world.ship('v1', 'jobs: { a: { run: "true", every: 1m } }\n');
  await world.ship('v2', 'jobs: { b: { run: "true", at: "03:00", zone: Europe/Berlin } }\n');
  const names = async () =>
    JSON.parse((await world.jobs(['--json'])).stdout).jobs.map(({ job }: { job: string }) => job);
  assert.equal(await names(), ['b']);
  await world.ship('v3', '');
  assert.equal(await names(), []);
  const back = await run('runner-rollback', ['shop', '--to', 'v1'], { root: world.root });
  assert.is(back.status, 0, back.stderr);
  assert.equal(await names(), ['a']);
});

test('of many jobs that are due at once eight begin at a time, and each has its run', async ({
  world,
}) => {
  const names = Array.from({ length: 20 }, (_, at) => `j${at}`);
  const due = dueNow();
  await world.ship('v1', `jobs: { ${names.map((name) => `${name}: { run: "true", ${due} }`)} }\n`);
  for (const name of names) world.since(name, 30 * MINUTE);
  const beginning = () => names.filter((name) => world.entry(name).run?.version === null).length;
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, beginning());
  }, 2);
  const looked = await world.look();
  clearInterval(watching);
  assert.equal([looked.status, looked.stderr], [0, '']);
  assert.is(most, 8);
  for (const name of names) await world.over(name, 1);
  assert.equal([...new Set(names.map((name) => world.entry(name).runs[0]?.outcome))], ['ok']);
  assert.equal(newsOf(world), []);
});

test('a time that was due just before a deploy with another schedule has its run', async ({
  world,
}) => {
  await world.ship('v1', 'jobs: { a: { run: "true", every: 24h } }\n');
  world.since('a', MINUTE);
  const { next } = world.entry('a');
  await world.ship('v2', 'jobs: { a: { run: "true", every: 23h } }\n');
  await world.over('a', 1);
  const [run1] = world.entry('a').runs;
  assert.equal([run1?.outcome, run1?.due, run1?.version], ['ok', next, 'v2']);
});

test('a job gets the secrets of the app, and nothing that it prints shows them', async ({
  world,
}) => {
  const { root } = world;
  const secret = 'k3y-of-the-mail-0123456789';
  const args = ['set', 'shop', 'MAIL_KEY', '--file', '-'];
  await run('runner-env', args, { root, stdin: secret });
  const command = `printf %s $MAIL_KEY | wc -c; echo Error: refused $MAIL_KEY; exit 1`;
  await world.ship('v1', `jobs: { mail: { run: "${command}", ${dueNow()} } }\n`);
  const byHand = await world.jobs(['run', 'shop', 'mail']);
  assert.match(byHand.stderr, new RegExp(`\\b${secret.length}\\b`));
  world.since('mail', 30 * MINUTE);
  await world.look();
  await world.over('mail', 2);
  await until(() => newsOf(world).length > 0, 'nothing is recorded');
  const shown = [byHand, await world.jobs(['log', 'shop', 'mail']), await world.jobs(['--json'])];
  for (const { stdout, stderr } of shown) assert.not.match(stdout + stderr, secret);
  assert.equal(findBytes(root, secret), []);
});

test('times that were missed are reported in one record, and made up for only where it says so', async ({
  world,
}) => {
  const rules = `run: "true", ${dailyAt(3)}`;
  await world.ship('v1', `jobs: { a: { ${rules} }, b: { ${rules}, catch_up: true } }\n`);
  for (const job of ['a', 'b']) world.since(job, 3 * DAY);
  await world.look();
  await world.over('b', 1);
  await until(() => newsOf(world).length > 0, 'nothing is recorded');
  const record = world.events().find(({ event_type: kind }) => kind === 'JobMissed');
  assert.match(
    String(record?.reason),
    /^job a was due 3 times from .* to .*: runner jobs run shop a$/,
  );
  assert.equal(newsOf(world), ['JobMissed a']);
  // When it was due, not when that was found.
  const due = String(/3 times from (\S+) to/.exec(String(record?.reason))?.[1]);
  assert.is(world.entry('a').trouble?.since, due);
  const listed = await world.jobs(['shop']);
  assert.ok(listed.stdout.includes(`missed ${due.slice(0, 16).replace('T', ' ')} UTC`));
  const { stdout } = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.match(stdout, /job a was missed\n +→? ?runner jobs run shop a\n/);
});

test('a run that goes on is not begun a second time, or is waited for, or ended', async ({
  world,
}) => {
  const gate = join(world.root, '..', 'gate');
  const slow = `while test ! -e '${gate}'; do sleep 0.05; done`;
  const rules = ['skip', 'wait', 'kill'];
  const lines = rules.map((rule) => `${rule}: { run: "${slow}", ${dueNow()}, overlap: ${rule} }`);
  await world.ship('v1', `jobs: { ${lines.join(', ')} }\n`);
  for (let look = 0; look < 2; look += 1) {
    for (const rule of rules) world.since(rule, 30 * MINUTE);
    await world.look();
    await until(() => rules.every((rule) => world.entry(rule).run?.version), 'no run has begun');
  }
  const outcomes = (rule: string) => world.entry(rule).runs.map(({ outcome }) => outcome);
  assert.equal(outcomes('skip'), ['skipped']);
  assert.equal(outcomes('wait'), []);
  const { jobs } = JSON.parse((await world.jobs(['shop', '--json'])).stdout);
  const [{ runs }] = jobs.filter(({ job }: { job: string }) => job === 'skip');
  assert.equal(runs, world.entry('skip').runs);
  await until(() => outcomes('kill').includes('ended'), 'the run before was not ended');
  writeFileSync(gate, '');
  await world.over('skip', 2);
  await world.over('wait', 2);
  await world.over('kill', 2);
  assert.equal(rules.map(outcomes), [
    ['ok', 'skipped'],
    ['ok', 'ok'],
    ['ok', 'ended'],
  ]);
  assert.equal(newsOf(world), []);
});

test('a deploy waits for a job, or ends it and has it run once more', async ({ world }) => {
  const gate = join(world.root, '..', 'gate');
  const slow = `touch ${gate}.$RUNNER_JOB.$RUNNER_VERSION; while test ! -e '${gate}'; do sleep 0.05; done`;
  const jobs = `jobs: { wait: { run: "${slow}", ${dueNow()}, overlap: wait, during_deploy: wait }, kill: { run: "${slow}", ${dueNow()}, during_deploy: kill } }\n`;
  await world.ship('v1', jobs);
  for (const job of ['wait', 'kill']) world.since(job, 30 * MINUTE);
  await world.look();
  const has = (name: string) => existsSync(`${gate}.${name}`);
  await until(() => has('wait.v1') && has('kill.v1'), 'no run has begun');
  // The next run waits for this one.
  world.since('wait', 30 * MINUTE);
  await world.look();
  const shipping = world.ship('v2', jobs);
  await until(() => world.entry('kill').runs.length > 0, 'it is not ended');
  assert.is(await world.page(), 'v1');
  writeFileSync(gate, '');
  assert.is((await shipping).status, 0);
  await world.over('kill', 2);
  await world.over('wait', 2);
  const runs = (job: string) =>
    world.entry(job).runs.map(({ outcome, version }) => `${outcome} ${version}`);
  assert.equal(runs('kill'), ['ok v2', 'ended v1']);
  assert.equal(runs('wait'), ['ok v2', 'ok v1']);
  assert.equal(newsOf(world), []);
});

test('a rollback waits for a run that a look begins at the same moment', async ({ world }) => {
  const { root } = world;
  const jobs = `jobs: { tick: { run: "true", ${dueNow()}, during_deploy: wait } }\n`;
  for (const version of ['v1', 'v2']) assert.is((await world.ship(version, jobs)).status, 0);
  // What a look does that has found no deploy: it writes the run, whose process takes its lock.
  const look = takeLock(join(root, 'locks/jobs/shop/.book'), 1, { pid: process.pid });
  const rollback = start('runner-rollback', ['shop'], { root });
  await until(() => world.state().deploying, 'it does not begin');
  await setTimeout(300);
  const file = join(root, 'apps/shop/jobs.json');
  const before = JSON.parse(readFileSync(file, 'utf8'));
  const at = new Date().toISOString();
  const going = { id: 'x', due: at, at, version: null };
  const tick = { ...before.jobs.tick, run: going };
  writeFileSync(file, JSON.stringify({ ...before, jobs: { tick } }));
  const lock = takeLock(join(root, 'locks/jobs/shop/tick'), 1, { pid: process.pid, id: 'x' });
  look?.release();
  await setTimeout(1_000);
  writeFileSync(file, JSON.stringify(before));
  lock?.release();
  assert.is((await rollback.done).status, 0, rollback.stderr());
  assert.match(rollback.stderr(), /ok +wait for job tick/);
});

test('a deploy that waits for a job also waits for the pauses between its attempts', async ({
  world,
}) => {
  const jobs = `jobs: { tick: { run: "sleep 2; exit 3", every: 24h, during_deploy: wait, timeout: 3s, retry: 1 } }\n`;
  await world.ship('v1', jobs);
  const run = world.jobs(['run', 'shop', 'tick']);
  await until(() => world.entry('tick').run?.version, 'no run has begun');
  const done = await world.ship('v2', jobs);
  assert.is(done.status, 0, done.stderr);
  assert.is((await run).status, 3);
});

test('a run that a deploy ends before its next attempt has not failed', async ({ world }) => {
  const mark = join(world.root, '..', 'mark');
  const run = `touch ${mark}.$RUNNER_VERSION; test $RUNNER_VERSION = v2`;
  const jobs = `jobs: { tick: { run: "${run}", ${dueNow()}, retry: 3, during_deploy: kill } }\n`;
  await world.ship('v1', jobs);
  world.since('tick', 30 * MINUTE);
  await world.look();
  await until(() => existsSync(`${mark}.v1`), 'no attempt has begun');
  await setTimeout(1_000);
  assert.is((await world.ship('v2', jobs)).status, 0);
  await until(async () => {
    await world.look();
    return world.entry('tick').runs.length > 1;
  }, 'it does not run again');
  const outcomes = world.entry('tick').runs.map(({ outcome, version }) => `${outcome} ${version}`);
  assert.equal([outcomes, newsOf(world)], [['ok v2', 'ended v1'], []]);
});

test('the way back of a watch ends a run of the bad release, and does not wait for it', async ({
  world,
}) => {
  const mark = join(world.root, '..', 'mark');
  const slow = `trap '' TERM; touch ${mark}.$RUNNER_VERSION; while :; do sleep 0.05; done`;
  const more = `watch: 5m\njobs: { kill: { run: "${slow}", ${dueNow()}, during_deploy: kill } }\n`;
  await world.ship('v1', more);
  await world.ship('v2', more);
  world.since('kill', 30 * MINUTE);
  await world.look();
  await until(() => existsSync(`${mark}.v2`), 'no run has begun');
  const pidFile = join(world.root, 'apps/shop/instances/default/run/pid.json');
  process.kill(JSON.parse(readFileSync(pidFile, 'utf8')).pid, 'SIGKILL');
  await until(async () => (await world.page()) === 'v1', 'it does not go back');
  assert.is(world.entry('kill').runs.length, 0);
  await until(() => world.entry('kill').runs.length > 0, 'the run is not ended');
  const [ended] = world.entry('kill').runs;
  assert.equal([ended?.outcome, ended?.version], ['ended', 'v2']);
});

test('a deploy, a restart and a stop leave a run alone, and its release is kept', async ({
  world,
}) => {
  const gate = join(world.root, '..', 'gate');
  const slow = `touch ${gate}.begun; while test ! -e '${gate}'; do sleep 0.05; done; cat VERSION`;
  const jobs = `jobs: { tick: { run: "${slow}", ${dueNow()} } }\nkeep: 1\n`;
  await world.ship('v1', jobs);
  world.since('tick', 30 * MINUTE);
  await world.look();
  await until(() => existsSync(`${gate}.begun`), 'no run has begun');
  for (const version of ['v2', 'v3']) assert.is((await world.ship(version, jobs)).status, 0);
  for (const tool of ['runner-restart', 'runner-stop'])
    assert.is((await run(tool, ['shop'], { root: world.root })).status, 0);
  writeFileSync(gate, '');
  await world.over('tick', 1);
  const [{ outcome, version } = {}] = world.entry('tick').runs;
  assert.equal([outcome, version, newsOf(world)], ['ok', 'v1', []]);
});

test('a run that begins while its app is removed ends with it', async ({ world }) => {
  const gate = join(world.root, '..', 'gate');
  const stubborn = `trap 'touch ${gate}.stops' TERM; until test -e '${gate}'; do sleep 0.05; done`;
  const job = `tick: { run: "touch ${gate}.job; while :; do sleep 0.05; done", ${dueNow()} }`;
  const run = `start: { type: process, run: "${stubborn}", stop_timeout: 60s }\njobs: { ${job} }\n`;
  await world.launch('v1', { deploy: run });
  const removing = start('runner-remove', ['shop', '--yes'], { root: world.root });
  await until(() => existsSync(`${gate}.stops`), 'it does not stop');
  world.since('tick', 30 * MINUTE);
  await world.look();
  await until(() => existsSync(`${gate}.job`), 'no run has begun');
  const ofJob = () =>
    processesWhere(
      (env) => env.RUNNER_JOB === 'tick' && !!env.RUNNER_RELEASE?.includes(world.root),
    );
  assert.is.not(ofJob().length, 0);
  writeFileSync(gate, '');
  assert.is((await removing.done).status, 0, removing.stderr());
  assert.equal(ofJob(), []);
  assert.equal(readdirSync(join(world.root, 'apps')), []);
});

test('a damaged jobs.json is reported and kept as it is; deploys and rollbacks work', async ({
  world,
}) => {
  const { root } = world;
  const jobs = `jobs: { tick: { run: "true", ${dueNow()}, during_deploy: kill } }\n`;
  for (const version of ['v1', 'v2']) await world.ship(version, jobs);
  const file = join(root, 'apps/shop/jobs.json');
  for (const text of ['{"of":"def', '{"of":"","jobs":{"tick":{"rules":7}}}']) {
    writeFileSync(file, text);
    for (const args of [
      ['shop'],
      ['run', '--due'],
      ['run', 'shop', 'tick'],
      ['pause', 'shop', 'tick'],
    ]) {
      const { status, stdout, stderr } = await world.jobs(args);
      assert.equal([status, stdout], [1, ''], args.join(' '));
      assert.match(stderr, /jobs\.json is damaged: .* \(state_malformed\)\n/);
    }
    const doctor = await run('runner-doctor', [], { root });
    assert.match(doctor.stdout, /problem +deploys +the file .*jobs\.json is damaged/);
    assert.is((await run('runner-status', ['shop'], { root })).status, 0);
    assert.is((await run('runner-rollback', ['shop'], { root })).status, 0);
    assert.is((await world.deploy(['--ref', 'v2'])).status, 0);
    assert.is(readFileSync(file, 'utf8'), text);
  }
  assert.is((await run('runner-remove', ['shop', '--yes'], { root })).status, 0);
});

test('a job that a deploy removes while it runs is not run again', async ({ world }) => {
  const gate = join(world.root, '..', 'gate');
  const slow = `touch ${gate}.begun; while test ! -e '${gate}'; do sleep 0.05; done; rm ${gate}.begun`;
  const other = `other: { run: "true", ${dueNow()} }`;
  await world.ship('v1', `jobs: { tick: { run: "${slow}", ${dueNow()} }, ${other} }\n`);
  world.since('tick', 30 * MINUTE);
  await world.look();
  await until(() => existsSync(`${gate}.begun`), 'no run has begun');
  assert.is((await world.ship('v2', `jobs: { ${other} }\n`)).status, 0);
  for (const job of ['tick', 'other']) world.since(job, 30 * MINUTE);
  await world.look();
  writeFileSync(gate, '');
  await world.over('other', 1);
  await until(() => !existsSync(`${gate}.begun`), 'the run goes on');
  world.since('other', 30 * MINUTE);
  await world.look();
  await world.over('other', 2);
  assert.equal([world.entry('tick').run, newsOf(world)], [null, []]);
});

test('a job that is tried again leaves the times of a release that has become active meanwhile', async ({
  world,
}) => {
  const begun = join(world.root, '..', 'begun');
  const slow = `slow: { run: "test -e ${begun} || { touch ${begun}; exit 1; }", ${dailyAt(3)}, retry: 1 }`;
  await world.ship('v1', `jobs: { ${slow} }\n`);
  const running = world.jobs(['run', 'shop', 'slow']);
  await until(() => existsSync(begun), 'no run has begun');
  await world.ship('v2', `jobs: { ${slow}, beat: { run: "true", every: 1h } }\n`);
  const { settled } = world.entry('beat');
  assert.is((await running).status, 0);
  assert.equal(
    [world.entry('slow').runs[0]?.version, world.entry('beat').settled],
    ['v2', settled],
  );
});

test('a job after deploys runs once for each, and not for the way back', async ({ world }) => {
  const jobs = 'jobs: { clean: { run: "true", after: deploy } }\n';
  await world.ship('v1', jobs);
  await world.over('clean', 1);
  // The clock was an hour fast until now.
  world.since('clean', -60 * MINUTE);
  await world.ship('v2', jobs);
  await world.over('clean', 2);
  await run('runner-rollback', ['shop'], { root: world.root });
  await world.look();
  assert.equal(
    world.entry('clean').runs.map(({ version }) => version),
    ['v2', 'v1'],
  );
});

test('a stopped app and a paused job rest, and what passed then is not missed', async ({
  world,
}) => {
  await world.ship('v1', `jobs: { tick: { run: "true", ${dueNow()} } }\n`);
  await run('runner-stop', ['shop'], { root: world.root });
  world.since('tick', 30 * MINUTE);
  await world.look();
  const [listed] = JSON.parse((await world.jobs(['--json'])).stdout).jobs;
  assert.equal([listed.next, listed.stopped], [null, true]);
  for (const tool of ['runner-jobs', 'runner-status'])
    assert.match((await run(tool, ['shop'], { root: world.root })).stdout, /tick.*[, ]stopped\n/);
  await run('runner-start', ['shop'], { root: world.root });
  assert.is(
    (await world.jobs(['pause', 'shop', 'tick'])).stdout,
    'Paused shop tick until runner jobs resume\n',
  );
  world.since('tick', 30 * MINUTE);
  await world.look();
  assert.is((await world.jobs(['resume', 'shop', 'tick'])).status, 0);
  await world.look();
  assert.equal([world.entry('tick').runs, newsOf(world)], [[], []]);
  // To resume what is not paused takes no time away.
  world.since('tick', MINUTE);
  assert.is((await world.jobs(['resume', 'shop', 'tick'])).status, 0);
  await world.look();
  await world.over('tick', 1);
});

test('an app that starts nothing can be stopped for its jobs, and is started for them', async ({
  world,
}) => {
  const { root } = world;
  const jobs = `jobs: { tick: { run: "true", ${dueNow()} } }\n`;
  await world.launch('v1', { deploy: `start: { type: none }\n${jobs}` });
  const stopped = await run('runner-stop', ['shop'], { root });
  assert.equal([stopped.status, stopped.stdout], [0, 'Stopped shop v1 (default)\n']);
  assert.match((await run('runner-stop', ['shop'], { root })).stdout, /^Stopped already: /);
  world.since('tick', 30 * MINUTE);
  await world.look();
  assert.equal([world.entry('tick').run, world.entry('tick').runs], [null, []]);
  assert.is((await run('runner-start', ['shop'], { root })).stdout, 'Started shop v1 (default)\n');
  assert.match((await run('runner-start', ['shop'], { root })).stdout, /^Runs already: /);
  world.since('tick', 30 * MINUTE);
  await world.look();
  await world.over('tick', 1);
  const restarted = await run('runner-restart', ['shop'], { root });
  assert.match(restarted.stdout, /there is nothing to restart/);
});

test('after a restore the jobs count from the first deploy on, and a pause stays', async ({
  world,
}) => {
  const { root } = world;
  const rules = `run: "true", ${dailyAt(3)}`;
  await world.ship('v1', `jobs: { a: { ${rules} }, b: { ${rules} } }\n`);
  await world.jobs(['pause', 'shop', 'b']);
  for (const job of ['a', 'b']) world.since(job, 3 * DAY);
  const [file, fresh] = [join(root, '../backup.age'), join(root, '../fresh')];
  const identity = join(root, '../identity');
  writeFileSync(identity, IDENTITY);
  const to = ['--to', file, '--recipient', RECIPIENT];
  assert.is((await run('runner-backup', to, { root })).status, 0);
  await run('runner-stop', ['shop'], { root });
  const restored = await run('runner-restore', [file, '--identity', identity], { root: fresh });
  assert.is(restored.status, 0, restored.stderr);
  assert.is((await run('runner-jobs', ['run', '--due'], { root: fresh })).status, 0);
  const deployed = await run('runner-deploy', ['shop'], { root: fresh });
  assert.is(deployed.status, 0, deployed.stderr);
  await run('runner-jobs', ['run', '--due'], { root: fresh });
  const { jobs } = JSON.parse((await run('runner-jobs', ['--json'], { root: fresh })).stdout);
  const shown = jobs.map(
    ({ job, paused, last }: { job: string; paused: unknown; last: unknown }) => [
      job,
      paused !== null,
      last,
    ],
  );
  assert.equal(shown, [
    ['a', false, null],
    ['b', true, null],
  ]);
  assert.not.match(readFileSync(join(fresh, 'logs/deploy-events.jsonl'), 'utf8'), /JobMissed/);
  killApp(fresh, 'shop');
});

test('a job that fails is reported once with its cause, and once when it works again', async ({
  world,
}) => {
  const flag = join(world.root, '..', 'fixed');
  const command = `test -e '${flag}' || { echo 'Error: connect ECONNREFUSED 127.0.0.1:5432' >&2; exit 3; }`;
  await world.ship('v1', `jobs: { tick: { run: "${command}", ${dueNow()} } }\n`);
  for (const count of [1, 2]) {
    world.since('tick', 30 * MINUTE);
    await world.look();
    await world.over('tick', count);
  }
  await until(() => newsOf(world).length > 0, 'nothing is recorded');
  const record = world.events().find(({ event_type: kind }) => kind === 'JobFailed');
  assert.match(String(record?.reason), /^job tick: `.*` ended with status 3$/s);
  assert.match(String(record?.cause), /ECONNREFUSED/);
  const { root } = world;
  const checked = await run('runner-status', ['--check'], { root });
  assert.equal(
    [checked.status, checked.stdout.slice(0, 30)],
    [1, 'shop: job tick failed 2 times:'],
  );
  const shown = await run('runner-status', ['shop'], { root });
  assert.match(shown.stdout, /^ *state: +ok, but in trouble: job tick$/m);
  const byHand = await world.jobs(['run', 'shop', 'tick']);
  assert.is(byHand.status, 3);
  assert.match(byHand.stdout, /^Failed: shop tick: `.* ended with status 3\n$/s);
  writeFileSync(flag, '');
  world.since('tick', 30 * MINUTE);
  await world.look();
  await world.over('tick', 4);
  await until(() => newsOf(world).length > 1, 'it is not recorded that it works again');
  assert.equal(newsOf(world), ['JobFailed tick', 'JobRecovered tick']);
});

test.run();
