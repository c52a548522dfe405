/** A deploy that is running: who is refused, who waits, what is shown, and how it is cancelled. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloading, run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { deployFile, gate, type World, worldSuite } from './world.ts';

const test = worldSuite('cancel');

const cancel = ({ root }: World, args: readonly string[] = []) =>
  run('runner-cancel', ['shop', ...args], { root });

test('a refusal because of the lock names the stage, the time, its starter and what to type', async ({
  world,
}) => {
  const { build, reached, open } = gate();
  await world.push('v1', { deploy: deployFile(world.port, build) });
  const first = world.deploy([], { SUDO_USER: 'ada' });
  await reached();
  const refused = await world.deploy();
  assert.is(refused.status, 75);
  assert.match(
    refused.stderr,
    /^runner deploy: 'shop' is busy: deploy of v1, at build after [\d.]+ s, begun by ada, process \d+; see: runner status shop \(locked\)\n$/,
  );
  const { stdout } = await run('runner-status', ['shop'], { root: world.root });
  assert.match(
    stdout,
    /\n +deploying: +v1, at build after [\d.]+ s\n +begun by ada, deploy [0-9a-f]{8}, process \d+\n/,
  );
  open();
  assert.is((await first).status, 0);
});

test('an app that is removed after its deploy was killed leaves a log in which the deploy has an end', async ({
  world,
}) => {
  const { root } = world;
  const { build, reached } = gate();
  await world.push('v1', { deploy: deployFile(world.port, build) });
  const deploy = start('runner-deploy', ['shop'], { root });
  await reached();
  deploy.kill('SIGKILL');
  await deploy.done;
  assert.is((await run('runner-remove', ['shop', '--yes'], { root })).status, 0);
  assert.equal(world.kinds(), ['DeployStarted', 'DeployFailure']);
  const verified = await run('runner-audit', ['verify'], { root });
  assert.equal([verified.status, verified.stderr], [0, '']);
});

test('a refusal during a hook after the deploy says that the deploy is about to end', async ({
  world,
}) => {
  const { build, reached, open } = gate();
  const hooks = `hooks: { ${build.replace('build', 'post_deploy')} }`;
  await world.push('v1', { deploy: deployFile(world.port, hooks) });
  const first = world.deploy();
  await reached();
  const refused = await run('runner-rollback', ['shop'], { root: world.root });
  assert.is(refused.status, 75);
  assert.match(
    refused.stderr,
    /^runner rollback: 'shop' is busy: deploy, at its end after [\d.]+ s, begun by .*, process \d+;/,
  );
  open();
  assert.is((await first).status, 0);
});

test('a command waits for a deploy that is about to end, and is not refused', async ({ world }) => {
  const reached = join(temporaryFolder('ending'), 'reached');
  await world.push('v1');
  await world.deploy();
  const hook = `hooks: { post_deploy: "touch '${reached}'; sleep 0.7" }`;
  await world.push('v2', { deploy: deployFile(world.port, hook) });
  for (const args of [
    ['runner-rollback', 'shop'],
    ['runner-restart', 'shop'],
  ] as const) {
    rmSync(reached, { force: true });
    const first = world.deploy(['--ref', 'v2']);
    await until(() => existsSync(reached), 'no hook');
    const [tool, ...rest] = args;
    const { status, stderr } = await run(tool, rest, { root: world.root });
    assert.is(status, 0, stderr);
    assert.not.match(stderr, 'busy');
    assert.is((await first).status, 0);
  }
});

test('deploy --wait waits for the other one, and gives up when its time is over', async ({
  world,
}) => {
  const { build, reached, open } = gate();
  await world.push('v1', { deploy: deployFile(world.port, build) });
  const first = world.deploy();
  await reached();
  const late = await world.deploy(['--wait', '1s']);
  assert.is(late.status, 75);
  const patient = world.deploy(['--wait', '10m']);
  await world.push('v2');
  open();
  assert.is((await first).status, 0);
  const done = await patient;
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, /waits: 'shop' is busy/);
  assert.is(await world.page(), 'v2');
  const wrong = await world.deploy(['--wait', 'soon']);
  assert.is(wrong.status, 2);
});

test('a deploy that waits for the lock ends at Ctrl-C', async ({ world }) => {
  const { build, reached, open } = gate();
  await world.push('v1', { deploy: deployFile(world.port, build) });
  const first = world.deploy();
  await reached();
  const waiting = start('runner-deploy', ['shop', '--wait', '10m'], { root: world.root });
  await until(() => waiting.stderr().includes('waits'), 'it does not wait');
  waiting.kill('SIGINT');
  assert.is((await waiting.done).status, 130);
  open();
  assert.is((await first).status, 0);
});

test('a rollback that waits for the lock ends at a signal, says so, and changes nothing', async ({
  world,
}) => {
  for (const version of ['v1', 'v2']) {
    await world.launch(version);
  }
  const { build, reached, open } = gate();
  await world.push('v3', { deploy: deployFile(world.port, build) });
  const first = world.deploy();
  await reached();
  const waiting = start('runner-rollback', ['shop', '--wait', '10m'], { root: world.root });
  await until(() => waiting.stderr().includes('waits'), 'it does not wait');
  waiting.kill('SIGTERM');
  const { status, stderr } = await waiting.done;
  assert.is(status, 143);
  assert.match(stderr, /^runner rollback: cancelled, nothing was changed \(interrupted\)$/m);
  open();
  assert.is((await first).status, 0);
  assert.is(await world.page(), 'v3');
});

test('cancel ends a running deploy as Ctrl-C does: rolled back, no cause, not counted', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const { build, reached } = gate();
  const noisy = build.replace('touch', 'echo compiling module 4; touch');
  await world.push('v2', { deploy: deployFile(world.port, noisy) });
  const first = world.deploy();
  await reached();
  const options = { root: world.root, env: { SUDO_USER: 'ada' } };
  const done = await run('runner-cancel', ['shop', '--json'], options);
  assert.is(done.status, 0, done.stderr);
  const { result, version, active_version: active } = JSON.parse(done.stdout);
  assert.equal([result, version, active], ['cancelled', 'v2', 'v1']);
  const ended = await first;
  assert.is(ended.status, 130);
  assert.not.match(ended.stderr, 'Why:');
  const last = world.events().at(-1);
  assert.equal(
    [last?.event_type, last?.interrupted, last?.cancelled_by, last?.cause],
    ['DeployFailure', true, 'ada', undefined],
  );
  assert.is(world.state().failures, null);
  const { stdout } = await run('runner-list', ['--json'], { root: world.root });
  assert.match(stdout, /"state": ?"interrupted"/);
  const doctor = await run('runner-doctor', ['--offline'], { root: world.root });
  assert.not.match(doctor.stdout, 'died');
  assert.is(await world.page(), 'v1');
  const later = await cancel(world);
  assert.equal(
    [later.status, later.stdout],
    [0, "Nothing to cancel: no deploy of 'shop' is running.\n"],
  );
});

test('a deploy whose app is ended by the shutdown of the server is interrupted, not counted', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  // The signal comes while the unit is asked for, which the systemd of the server has stopped already.
  const script = `case "$*" in
  *is-active*) test ! -e "$0.settled" || { kill -TERM $PPID; exit 3; }; touch "$0.settled"; echo active;;
esac`;
  const { env } = recording(['systemctl'], script);
  const unit = deployFile(world.port).replace(
    /^start: .*$/m,
    'start: { type: systemd, unit: shop.service }',
  );
  await world.push('v2', { deploy: unit });
  const ended = await world.deploy([], env);
  assert.is(ended.status, 143, ended.stderr);
  const { error, interrupted } =
    world.events().find((each) => each.event_type === 'DeployFailure') ?? {};
  assert.equal([error, interrupted], ['start: was interrupted', true]);
  assert.is(world.state().failures, null);
});

test('an edit that changes nothing does not hide that a deploy was cancelled', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const { build, reached } = gate();
  await world.push('v2', { deploy: deployFile(world.port, build) });
  const first = world.deploy();
  await reached();
  await run('runner-edit', ['shop', '--branch', 'main'], { root: world.root });
  await cancel(world);
  await first;
  const { stdout } = await run('runner-status', ['shop', '--json'], { root: world.root });
  const { state, next } = JSON.parse(stdout);
  assert.equal([state, next], ['interrupted', 'the next fetch --deploy tries again']);
});

test('cancel ends the deploy of one app, and the fetch goes on with the others', async ({
  world,
}) => {
  const { root } = world;
  const gates = { blog: gate(), shop: gate() };
  await world.git.createRepo('acme/blog');
  const add = ['--repo', 'acme/blog', '--branch', 'main', '--token-from', 'shop'];
  assert.is((await run('runner-add', add, { root })).status, 0);
  for (const [name, { build }] of Object.entries(gates))
    await world.git.commit(`acme/${name}`, { '.deploy.yml': build }, 'v1', { tag: 'v1' });
  const fetch = run('runner-fetch', ['--deploy', '--jobs', '2'], { root });
  await Promise.all([gates.blog.reached(), gates.shop.reached()]);
  const done = await cancel(world);
  assert.match(done.stdout, /^Cancelled the deploy of shop v1 at build /);
  gates.blog.open();
  const { status, stdout } = await fetch;
  assert.is(status, 1);
  assert.equal(stdout.trimEnd().split('\n').sort(), [
    'blog: deployed v1',
    'shop: deploy of v1 was cancelled at build, nothing is active',
  ]);
  const failed = world.events().filter(({ event_type }) => event_type === 'DeployFailure');
  assert.equal(
    failed.map(({ project, interrupted }) => [project, interrupted]),
    [['shop', true]],
  );
  assert.equal(
    readdirSync(join(root, 'locks')).filter((name) => name.endsWith('.cancel')),
    [],
  );
});

test('a cancel that comes too late says so, and the hook runs to its end', async ({ world }) => {
  const folder = temporaryFolder('late');
  const [reached, done] = [join(folder, 'reached'), join(folder, 'done')];
  const hook = `hooks: { post_deploy: "touch '${reached}'; sleep 2; touch '${done}'" }`;
  for (const [version, tool, ...args] of [
    ['v1', 'runner-deploy', 'shop'],
    ['v2', 'runner-fetch', '--deploy'],
  ] as const) {
    for (const file of [reached, done]) rmSync(file, { force: true });
    await world.push(version, { deploy: deployFile(world.port, hook) });
    const deploying = run(tool, args, { root: world.root });
    await until(() => existsSync(reached), 'no hook');
    const late = await cancel(world);
    assert.equal([late.status, late.stderr], [1, '']);
    assert.match(late.stdout, new RegExp(`^Too late: shop ${version} was deployed \\[`));
    const { status, stderr } = await deploying;
    assert.is(status, 0, stderr);
    assert.not.match(stderr, 'interrupted');
    assert.ok(existsSync(done));
  }
});

test('a cancel on a slow disk sends no signal to a deploy that ends meanwhile', async ({
  world,
}) => {
  const folder = temporaryFolder('slow');
  const [slow, go, hooked, done] = ['slow', 'go', 'hooked', 'done'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  const preload = join(folder, 'preload.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
const { renameSync } = fs;
fs.renameSync = (from, to) => {
  renameSync(from, to);
  if (!to.endsWith('.cancel')) return;
  fs.writeFileSync('${slow}', '');
  while (!fs.existsSync('${go}')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
};
`,
  );
  const { build, reached, open } = gate();
  const hook = `hooks: { post_deploy: "touch '${hooked}'; sleep 2; touch '${done}'" }`;
  await world.push('v1', { deploy: deployFile(world.port, `${build}\n${hook}`) });
  const deploying = world.deploy();
  await reached();
  const late = run('runner-cancel', ['shop'], { root: world.root, env: preloading(preload) });
  await until(() => existsSync(slow), 'no cancel');
  open();
  await until(() => existsSync(hooked), 'no hook');
  writeFileSync(go, '');
  assert.match((await late).stdout, /^Too late: shop v1 was deployed \[/);
  assert.not.match((await deploying).stderr, 'interrupted');
  assert.ok(existsSync(done));
});

test('Ctrl-C ends a hook that runs after the end, also when the first one began it', async ({
  world,
}) => {
  const folder = temporaryFolder('hanging');
  const [building, reached] = [join(folder, 'building'), join(folder, 'reached')];
  const rows = [
    [`build: "touch '${building}'; exec sleep 60"`, 'on_failure', 130],
    ['build: exit 1', 'on_failure', 1],
    ['', 'post_deploy', 0],
  ] as const;
  for (const [at, [build, hook, status]] of rows.entries()) {
    rmSync(reached, { force: true });
    const hooks = `hooks: { ${hook}: "touch '${reached}'; exec sleep 60" }`;
    await world.push(`v${at}`, { deploy: deployFile(world.port, `${build}\n${hooks}`) });
    const deploying = start('runner-deploy', ['shop'], { root: world.root, timeout: 50_000 });
    if (at === 0) {
      await until(() => existsSync(building), 'no build');
      deploying.kill('SIGINT');
    }
    await until(() => existsSync(reached), 'no hook');
    deploying.kill('SIGINT');
    const done = await deploying.done;
    assert.is(done.status, status, done.stderr);
    assert.match(done.stderr, /hook: `touch .*` was interrupted/);
  }
});

test('cancel ends a deploy by fetch, and refuses a rollback', async ({ world }) => {
  const { build, reached } = gate();
  await world.push('v1', { deploy: deployFile(world.port, build) });
  const fetch = run('runner-fetch', ['--deploy'], { root: world.root });
  await reached();
  const done = await cancel(world);
  assert.match(
    done.stdout,
    /^Cancelled the deploy of shop v1 at build \[[0-9a-f]{8}\]\. Nothing is active\.\n$/,
  );
  await fetch;
  const lock = join(world.root, 'locks/shop.lock');
  const script = `exec 3>"${lock}"; flock -x 3; echo '{"pid":'$$',"command":"rollback"}' >&3; echo held; exec sleep 60`;
  const holder = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  const refused = await cancel(world);
  assert.is(refused.status, 75, refused.stdout + refused.stderr);
  assert.match(refused.stderr, /a rollback is running and cannot be cancelled \(locked\)\n$/);
  holder.kill('SIGKILL');
  const unknown = await run('runner-cancel', ['ship'], { root: world.root });
  assert.match(unknown.stderr, /\(app_not_found\)\n$/);
});

test.run();
