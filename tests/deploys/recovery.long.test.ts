import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { isAlive, until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, REPO, TOKEN, type World, worldSuite } from './world.ts';

const test = worldSuite('recovery');

/** Starts a deploy and waits until `ready` holds. */
async function deployUntil(world: World, ready: () => boolean) {
  const running = start('runner-deploy', ['shop'], { root: world.root });
  running.stdin.end();
  await until(ready, running.stderr);
  return running;
}

/** `deploying.stage` of the state file, which may be between two versions right now. */
function stageOf(world: World): string | undefined {
  return (world.state().deploying as { stage: string } | null)?.stage;
}

/** A hook that would go on for a minute, and its process once it runs. */
function longHook(name: string) {
  const file = join(temporaryFolder('hook'), 'pid');
  const pid = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
  return { hook: `hooks: { ${name}: "echo $$ > '${file}'; exec sleep 60" }`, pid };
}

test('a hook that a killed deploy left behind is ended by the next command', async ({ world }) => {
  await world.push('v1');
  await world.deploy();
  const rows: readonly (readonly [hook: string, build: string, tool: string, ...string[]])[] = [
    ['post_deploy', '', 'runner-rollback', 'shop'],
    ['on_failure', 'build: exit 1', 'runner-restart', 'shop'],
    ['post_deploy', '', 'runner-fetch', '--deploy'],
    ['on_failure', 'build: exit 1', 'runner-deploy', 'shop', '--ref', 'v1'],
  ];
  for (const [at, [name, build, tool, ...args]] of rows.entries()) {
    const { hook, pid } = longHook(name);
    await world.push(`w${at}`, { deploy: deployFile(world.port, `${build}\n${hook}`) });
    const killed = await deployUntil(world, () => pid() > 0);
    process.kill(killed.pid, 'SIGKILL');
    await killed.done;
    assert.ok(isAlive(pid()), name);
    const done = await run(tool, args, { root: world.root });
    assert.is(done.status, 0, done.stderr);
    assert.not.ok(isAlive(pid()), tool);
  }
});

test('a deploy killed while it builds is reported by the next one, which cleans up and goes on', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const before = world.current();
  await world.push('v2', { deploy: deployFile(world.port, 'build: sleep 30') });
  const killed = await deployUntil(world, () => stageOf(world) === 'build');
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  assert.is(await world.page(), 'v1');
  const next = await world.launch('v3');
  assert.match(
    next.stderr,
    /runner deploy: deploy [0-9a-f]{8} was interrupted during build: cleaning up/,
  );
  assert.is(await world.page(), 'v3');
  assert.not.equal(world.current(), before);
  const kinds = world.events().map((event) => `${event.event_type} ${event.version}`);
  assert.equal(kinds.slice(2), [
    'DeployStarted v2',
    'DeployFailure v2',
    'DeployStarted v3',
    'DeploySuccess v3',
  ]);
  const { error, interrupted } = world.events()[3] ?? {};
  assert.equal([error, interrupted], ['deploy interrupted during build', true]);
  const left = readdirSync(join(world.root, 'apps/shop/releases')).filter((name) =>
    name.startsWith('.'),
  );
  assert.equal(left, []);
});

test('a killed deploy is shown as interrupted like a cancelled one, even after the cleanup', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  await world.push('v2', { deploy: deployFile(world.port, 'build: sleep 30') });
  assert.is((await run('runner-fetch', [], { root: world.root })).status, 0);
  const killed = await deployUntil(world, () => stageOf(world) === 'build');
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  const back = await run('runner-rollback', ['shop'], { root: world.root });
  assert.match(back.stdout, /^v1 is active: v2 failed/);
  const listed = await run('runner-list', ['--json'], { root: world.root });
  assert.is(JSON.parse(listed.stdout).apps[0].state, 'interrupted');
});

test('the next command ends the build processes of a killed deploy', async ({ world }) => {
  await world.push('v1', {
    deploy: deployFile(world.port, 'build: "setsid sleep 300 & echo $! > pid; sleep 300"'),
  });
  const killed = await deployUntil(world, () => {
    if (stageOf(world) !== 'build') return false;
    const [folder] = readdirSync(join(world.root, 'apps/shop/releases'));
    const file = folder && join(world.root, 'apps/shop/releases', folder, 'pid');
    return Boolean(file && existsSync(file) && readFileSync(file, 'utf8').trim() !== '');
  });
  const [folder = ''] = readdirSync(join(world.root, 'apps/shop/releases'));
  const pid = Number(readFileSync(join(world.root, 'apps/shop/releases', folder, 'pid'), 'utf8'));
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  assert.ok(existsSync(`/proc/${pid}`));
  await world.launch('v2');
  await until(() => !isAlive(pid), 'what it built with goes on');
});

test('an instance that left .deploy.yml is stopped, also if the deploy is killed before that', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const other = deployFile(await freePort(), 'hooks: { post_deploy: "sleep 30" }').replace(
    'default',
    'web',
  );
  await world.push('v2', { deploy: other });
  const killed = await deployUntil(world, () => world.kinds().includes('DeploySuccess', 2));
  await until(
    () => world.current() !== null && 'web' in (world.state().instances as object),
    () => '',
  );
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  assert.is(await world.page(), 'v1');
  const next = await run('runner-fetch', ['--deploy', 'shop'], { root: world.root });
  assert.match(next.stderr, /the instance default is no longer in \.deploy\.yml: it was stopped/);
  assert.is(await world.page(), null);
  assert.equal(Object.keys(world.state().instances as object), ['web']);
  assert.is(world.state().deploying, null);
  assert.equal(world.kinds().slice(2), ['DeployStarted', 'DeploySuccess']);
  await run('runner-stop', ['shop'], { root: world.root });
});

test('Ctrl-C during a build ends its whole tree, records the failure and is 130', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const pids = join(world.root, 'pids');
  const note = `echo $$ >> \\"${pids}\\"; exec sleep 300`;
  await world.push('v2', {
    deploy: deployFile(world.port, `build: "trap '' TERM; setsid sh -c '${note}' & ${note}"`),
  });
  const noted = () =>
    existsSync(pids) ? readFileSync(pids, 'utf8').split('\n').filter(Boolean).map(Number) : [];
  const running = await deployUntil(world, () => noted().length === 2);
  process.kill(running.pid, 'SIGINT');
  const done = await running.done;
  assert.is(done.status, 130, done.stderr);
  assert.is(await world.page(), 'v1');
  assert.equal(world.kinds().slice(2), ['DeployStarted', 'DeployFailure']);
  assert.is(world.state().failures, null);
  assert.is(world.state().deploying, null);
  await until(() => !noted().some(isAlive), 'a part of the build goes on');
});

test('Ctrl-C while waiting for health rolls back to the version before', async ({ world }) => {
  await world.push('v1');
  await world.deploy();
  await world.push('v2', {
    health: 503,
    deploy: deployFile(world.port),
  });
  const running = await deployUntil(world, () => stageOf(world) === 'health');
  process.kill(running.pid, 'SIGINT');
  const done = await running.done;
  assert.is(done.status, 130, done.stderr);
  assert.is(await world.page(), 'v1');
  assert.equal(world.kinds().slice(2), ['DeployStarted', 'DeployFailure', 'RollbackSuccess']);
});

test('a build that outlasts its time limit is ended with all it started', async ({ world }) => {
  await world.push('v1', {
    deploy: deployFile(
      world.port,
      'build: { run: "echo begun; setsid sleep 302 & sleep 302", timeout: 2s }',
    ),
  });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(String(world.events().at(-1)?.error), /ran out of time \(2 s\)\nbegun$/);
});

test('an event that could not be appended is kept, and appended by the next command that can', async ({
  world,
}) => {
  await world.push('v1', {
    deploy: deployFile(
      world.port,
      `build: "cd '${world.root}/logs' && mv deploy-events.jsonl old && mkdir deploy-events.jsonl"`,
    ),
  });
  const done = await world.deploy();
  assert.is(done.status, 0);
  assert.match(done.stderr, /the event is kept and will be appended later \(audit_unwritable\)/);
  const { rmdirSync, renameSync } = await import('node:fs');
  rmdirSync(join(world.root, 'logs/deploy-events.jsonl'));
  renameSync(join(world.root, 'logs/old'), join(world.root, 'logs/deploy-events.jsonl'));
  await world.push('v2');
  await world.deploy();
  assert.equal(
    world.events().map((event) => `${event.event_type} ${event.version}`),
    ['DeployStarted v1', 'DeploySuccess v1', 'DeployStarted v2', 'DeploySuccess v2'],
  );
});

test('shared files survive a new release, and start with the content of the commit', async ({
  world,
}) => {
  const deploy = deployFile(world.port, 'shared: [uploads/, .env]');
  mkdirSync(join(world.root, 'apps/shop/instances/default/shared'), { recursive: true });
  writeFileSync(join(world.root, 'apps/shop/instances/default/shared/.env'), 'A=1\n');
  await world.launch('v1', { deploy, files: { 'uploads/first.txt': 'one\n' } });
  const current = join(world.root, 'apps/shop/instances/default/current');
  writeFileSync(join(current, 'uploads/second.txt'), 'two\n');
  await world.launch('v2', { deploy });
  assert.equal(readdirSync(join(current, 'uploads')).sort(), ['first.txt', 'second.txt']);
  assert.is(readFileSync(join(current, '.env'), 'utf8'), 'A=1\n');
});

test('a shared file that exists nowhere is refused before anything is switched, and does not count', async ({
  world,
}) => {
  await world.push('v1', { deploy: deployFile(world.port, 'shared: [.env]') });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(
    String(world.events().at(-1)?.error),
    /^shared: the file .*\/\.env does not exist yet: create it$/,
  );
  assert.equal([world.events().at(-1)?.stage, world.state().failures], ['export', null]);
});

test('a build that replaces .deploy.yml by a pipe does not block later commands', async ({
  world,
}) => {
  const build = 'build: "rm .deploy.yml; mkfifo .deploy.yml"\n';
  await world.launch('v1', { deploy: build });
  await world.launch('v2', { deploy: build });
  const { status, stderr } = await run('runner-remove', ['shop', '--yes'], { root: world.root });
  assert.is(status, 0, stderr);
});

test('an app whose kept .deploy.yml is damaged is removed only by --force', async ({ world }) => {
  await world.launch('v1');
  const files = join(world.root, 'apps/shop/files');
  writeFileSync(join(files, readdirSync(files)[0] as string), 'nonsense: [');
  const remove = (...more: string[]) =>
    run('runner-remove', ['shop', '--yes', ...more], { root: world.root });
  const { status, stderr } = await remove();
  assert.is(status, 1, stderr);
  assert.match(stderr, /default was not stopped: its \.deploy\.yml cannot be read; .*--force/);
  assert.is((await remove('--force')).status, 0);
});

test('an app is removed with what a killed first deploy has started, and its hooks', async ({
  world,
}) => {
  const ports = [await freePort(), await freePort()];
  const traffic = `traffic: { type: ports, ports: [${ports.join(', ')}] }\n`;
  for (const [version, deploy] of [
    ['v1', deployFile(world.port)],
    ['v2', deployFile(world.port, traffic).replace(/^instances.*\n/, '')],
  ] as const) {
    if (version === 'v2')
      await run('runner-add', ['--repo', REPO, '--branch', 'main', '--token', '-'], {
        root: world.root,
        stdin: TOKEN,
      });
    await world.push(version, { health: 500, deploy });
    const killed = await deployUntil(world, () => stageOf(world) === 'health');
    process.kill(killed.pid, 'SIGKILL');
    await killed.done.catch(() => {});
    const place = version === 'v1' ? 'run' : 'run/a';
    const record = join(world.root, 'apps/shop/instances/default', place, 'pid.json');
    const { pid } = JSON.parse(readFileSync(record, 'utf8'));
    assert.ok(isAlive(pid));
    const removed = await run('runner-remove', ['shop', '--yes'], { root: world.root });
    assert.is(removed.status, 0, removed.stderr);
    assert.not.ok(isAlive(pid), version);
  }
});

test('only as many good releases are kept as keep says, and never less than the active one', async ({
  world,
}) => {
  for (const version of ['v1', 'v2', 'v3', 'v4']) {
    await world.launch(version, { deploy: deployFile(world.port, 'keep: 2') });
  }
  const releases = readdirSync(join(world.root, 'apps/shop/releases'));
  assert.is(releases.length, 2);
  assert.ok(releases.includes((world.current() ?? '').split('/').at(-1) ?? ''));
});

test.run();
