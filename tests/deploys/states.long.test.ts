/** What `list`, `status`, `doctor` and their exit statuses say of an app, for every driver. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { OK, said } from './states.ts';
import { deployFile, worldSuite } from './world.ts';

const test = worldSuite('states');

/** A program on PATH that records its calls; `script` is what else it does. */
function program(name: string, script: string) {
  const folder = temporaryFolder('bin');
  const calls = join(folder, 'calls');
  writeFileSync(calls, '');
  writeFileSync(
    join(folder, name),
    `#!/bin/sh\necho "$*" >>'${calls}'\ncd '${folder}'\n${script}\n`,
    {
      mode: 0o755,
    },
  );
  return {
    folder,
    env: { PATH: `${folder}:${process.env.PATH}` },
    calls: () => readFileSync(calls, 'utf8').split('\n').filter(Boolean),
  };
}

test('a deploy that cannot even fetch its commit makes the app stale as well', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  await world.push('v2');
  const mirror = join(world.root, 'apps/shop/repo.git');
  rmSync(mirror, { recursive: true });
  writeFileSync(mirror, '');
  const fetch = () => run('runner-fetch', ['--deploy'], { root: world.root });
  assert.is((await fetch()).status, 1);
  assert.equal((await said(world)).list, 'stale');
  rmSync(mirror);
  assert.is((await fetch()).stdout, 'shop: deployed v2\n');
  assert.equal(await said(world), OK);
});

test('systemd is asked once for all units, and a stopped one is down', async ({ world }) => {
  const { folder, env, calls } = program(
    'systemctl',
    `case $1 in
  is-active) cat active ;;
  show) shift 3; for unit; do printf 'Id=%s\\nActiveState=%s\\nSubState=x\\n\\n' "$unit" "$(cat active)"; done ;;
esac`,
  );
  const active = join(folder, 'active');
  writeFileSync(active, 'active\n');
  await world.push('v1', {
    deploy: 'start: { type: systemd, unit: shop@.service }\ninstances: { eu: {}, us: {} }\n',
  });
  const done = await world.deploy([], env);
  assert.is(done.status, 0, done.stderr);
  assert.equal(await said(world, env), OK);
  writeFileSync(active, 'inactive\n');
  const before = calls().length;
  const list = await run('runner-list', [], { root: world.root, env });
  assert.match(list.stdout, /^shop {2}down .*\nshop {2}down .*\n$/m);
  assert.is(calls().length, before + 1);
  const { doctor, ...down } = await said(world, env);
  assert.equal(down, { list: 'down', status: 'down', check: 1 });
  assert.equal(doctor, ['shop is not running: eu, us']);
  const offline = await run('runner-list', ['--offline', '--json'], { root: world.root, env });
  assert.is(JSON.parse(offline.stdout).apps[0].state, 'ok');
  const stop = await run('runner-stop', ['shop', '--instance', 'eu'], { root: world.root, env });
  assert.is(stop.status, 0, stop.stderr);
  assert.equal((await said(world, env)).doctor, ['shop is not running: us']);
});

test('a supervisor that does not answer within 2 s is not waited for', async ({ world }) => {
  const hung = program(
    'systemctl',
    'test "$1" != show || test ! -e hang || exec sleep 60; echo active',
  );
  await world.push('v1', { deploy: 'start: { type: systemd, unit: shop.service }\n' });
  assert.is((await world.deploy([], hung.env)).status, 0);
  writeFileSync(join(hung.folder, 'hang'), '');
  const { stdout, ms } = await run('runner-list', ['--json'], { root: world.root, env: hung.env });
  const [app] = JSON.parse(stdout).apps;
  assert.equal([app.state, app.instances[0].running], ['ok', null]);
  assert.ok(ms < 30_000, `${ms} ms`);
});

test('a process of pm2 that is stopped or gone is down', async ({ world }) => {
  const { folder, env, calls } = program('pm2', 'test "$1" != jlist || cat list');
  const list = join(folder, 'list');
  const listed = (status: string) => {
    const shared = join(world.root, 'apps/shop/instances/default/shared');
    const named = { RUNNER_APP: 'shop', RUNNER_INSTANCE: 'default', RUNNER_SHARED: shared };
    const own = { status, restart_time: 0, ...named };
    writeFileSync(list, `${JSON.stringify([{ pm_id: 0, name: 'web', pm2_env: own }])}\n`);
  };
  writeFileSync(list, '[]\n');
  await world.push('v1', { deploy: 'start: { type: pm2, config: app.config.js }\n' });
  const asked = { ...env, PM2_HOME: folder };
  const done = await world.deploy([], asked);
  assert.is(done.status, 0, done.stderr);
  writeFileSync(join(folder, 'pm2.pid'), String(process.pid));
  listed('online');
  assert.equal(await said(world, asked), OK);
  listed('stopped');
  assert.is((await said(world, asked)).list, 'down');
  writeFileSync(list, '[]\n');
  assert.is((await said(world, asked)).list, 'down');
  // Asking pm2 would start its daemon.
  rmSync(join(folder, 'pm2.pid'));
  const before = calls().length;
  assert.is((await said(world, asked)).list, 'down');
  assert.is(calls().length, before);
});

test('a project of compose without a running container is down', async ({ world }) => {
  const { folder, env } = program('docker', 'case "$*" in *" ps "*) cat containers ;; esac');
  writeFileSync(join(folder, 'containers'), 'c0ffee\n');
  await world.push('v1', { deploy: 'start: { type: compose, file: compose.yml }\n' });
  assert.is((await world.deploy([], env)).status, 0);
  assert.equal(await said(world, env), OK);
  writeFileSync(join(folder, 'containers'), '');
  assert.is((await said(world, env)).list, 'down');
});

test('an app started by a command is down when nothing listens on the port of its health', async ({
  world,
}) => {
  const server = createServer().listen(world.port, '127.0.0.1');
  await world.launch('v1', {
    deploy: `start: { type: command, run: "true" }\nhealth: { tcp: "127.0.0.1:\${PORT}", interval: 50ms }\ninstances: { default: { env: { PORT: "${world.port}" } } }\n`,
  });
  assert.equal(await said(world), OK);
  await new Promise((resolve) => server.close(resolve));
  assert.is((await said(world)).list, 'down');
});

test('status --check names each app that needs someone, and is silent about the others', async ({
  world,
}) => {
  mkdirSync(join(world.root, 'state'), { recursive: true });
  const check = (...args: string[]) =>
    run('runner-status', ['--check', ...args], { root: world.root });
  const fine = await check();
  assert.equal(
    [fine.status, fine.stdout],
    [0, '1 app checked: none is broken, down, blocked or stale\n'],
  );
  const state = { version: 1, app: 'bad', repo: 'acme/bad', branch: 'main' };
  const check_failed = { since: '2026-05-04T10:00:00.000Z', error: 'network_error', message: 'no' };
  writeFileSync(join(world.root, 'state/bad.json'), JSON.stringify({ ...state, check_failed }));
  const bad = await check();
  assert.equal(
    [bad.status, bad.stdout],
    [1, 'bad: stale: fetch fails since 2026-05-04 10:00:00 UTC: no\n'],
  );
  assert.is((await check('shop')).status, 0);
  assert.is((await check('bad')).status, 1);
  const { healthy, apps } = JSON.parse((await check('--json')).stdout);
  assert.equal([healthy, apps.map(({ app }: { app: string }) => app)], [false, ['bad']]);
  const none = await run('runner-status', [], { root: world.root });
  assert.is(none.status, 2);
});

test('status shows uptime and memory of what systemd, pm2 and docker run', async ({ world }) => {
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  const own = { RUNNER_APP: 'shop', RUNNER_INSTANCE: 'default', RUNNER_SHARED: shared };
  const listed = [
    { pid: process.pid, pm_id: 0, name: 'web', pm2_env: { ...own, status: 'online' } },
  ];
  const cases: [string, string, string][] = [
    [
      'systemctl',
      `case $1 in is-active) echo active ;; *) printf 'ActiveState=active\\nMainPID=${process.pid}\\nControlGroup=\\n' ;; esac`,
      'start: { type: systemd, unit: shop.service }',
    ],
    [
      'pm2',
      `test "$1" != jlist || test ! -e started || echo '${JSON.stringify(listed)}'; test "$1" != jlist || test -e started || echo '[]'; test "$1" != start || touch started`,
      'start: { type: pm2, config: app.config.js }',
    ],
    [
      'docker',
      `case "$*" in *" ps "*quiet*) echo container ;; inspect*) echo ${process.pid} ;; esac`,
      'start: { type: compose }',
    ],
  ];
  let path = String(process.env.PATH);
  for (const [name, script, deploy] of cases) {
    const { folder } = program(name, script);
    path = `${folder}:${path}`;
    writeFileSync(join(folder, 'pm2.pid'), String(process.pid));
    await world.push(name, {
      deploy: `${deploy}\n`,
      files: { 'app.config.js': 'module.exports = { apps: [] };', 'compose.yaml': '' },
    });
    const all = { PATH: path, PM2_HOME: folder };
    const done = await world.deploy([], all);
    assert.is(done.status, 0, done.stderr);
    const shown = await run('runner-status', ['shop', '--json'], { root: world.root, env: all });
    const { pid, up_s, memory } = JSON.parse(shown.stdout).usage.default ?? {};
    assert.is(pid, process.pid, `${name}: ${shown.stdout}`);
    assert.ok(up_s >= 0 && memory > 1_000_000, name);
  }
});

test('a blocked app is a problem for monitoring', async ({ world }) => {
  writeFileSync(
    join(world.root, 'config.yml'),
    `code_host_git_url: ${world.git.url}\nmax_deploy_retries: 1\n`,
    { mode: 0o600 },
  );
  await world.push('v1');
  await world.deploy();
  await world.push('v2', { deploy: deployFile(world.port, 'build: exit 1') });
  await run('runner-fetch', ['--deploy'], { root: world.root });
  const { doctor, ...blocked } = await said(world);
  assert.equal(blocked, { list: 'blocked', status: 'blocked', check: 1 });
  assert.match(doctor.join(), /automatic deploys of shop are blocked: the same commit failed once/);
});

test.run();
