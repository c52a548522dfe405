import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { TOKEN, type World, worldSuite } from './world.ts';

const test = worldSuite('names in the registries of supervisors');

const commit = (world: World, files: Record<string, string>, message = 'v') =>
  world.git.commit('acme/shop', { ...files, message }, message);

/** A pm2 that lists these processes. */
function pm2(list: readonly object[]) {
  const file = join(temporaryFolder('pm2'), 'list');
  writeFileSync(file, JSON.stringify(list));
  return recording(['pm2'], `test "$1" != jlist || cat '${file}'`);
}

const process1 = (name: string, env: object) => ({
  pm_id: 1,
  name,
  pm2_env: { status: 'online', restart_time: 0, ...env },
});

test('a pm2 process of another app is refused before anything changes', async ({ world }) => {
  const other = { RUNNER_APP: 'other', RUNNER_INSTANCE: 'default', RUNNER_SHARED: '/x' };
  const { env, calls } = pm2([process1('web', other)]);
  await commit(world, {
    '.deploy.yml': 'start: { type: pm2, config: ecosystem.config.js }\n',
    'ecosystem.config.js': "module.exports = { apps: [{ name: 'web', script: 'server.js' }] };\n",
  });
  const done = await world.deploy([], env);
  assert.is(done.status, 1, done.stderr);
  assert.is(
    world.events().at(-1)?.error,
    "start: the name 'web' is taken: pm2 runs a process of that name for default of other; give this one another name",
  );
  assert.equal([...new Set(calls())], ['pm2 jlist']);
  assert.is(world.current(), null);
});

test('two instances with one ecosystem file are refused in the same way, JSON and YAML too', async ({
  world,
}) => {
  const shared = join(world.root, 'apps/shop/instances/green/shared');
  const green = { RUNNER_APP: 'shop', RUNNER_INSTANCE: 'green', RUNNER_SHARED: shared };
  const { env, calls } = pm2([process1('server', green)]);
  for (const [name, text] of [
    ['pm2.json', '{ "apps": [{ "script": "server.js" }] }'],
    ['pm2.yaml', 'apps:\n  - script: server.js\n'],
  ] as const) {
    const deploy = `start: { type: pm2, config: ${name} }\ninstances: { blue: {} }\n`;
    await commit(world, { '.deploy.yml': deploy, [name]: text });
    await world.deploy([], env);
    assert.match(
      String(world.events().at(-1)?.error),
      /^start: the name 'server' is taken: pm2 runs a process of that name for green of shop;/,
    );
  }
  assert.not.ok(calls().some((call) => /^pm2 (start|delete)/.test(call)));
});

test('a process that someone else started under that name is left alone', async ({ world }) => {
  const { env, calls } = pm2([process1('web', {})]);
  await commit(world, {
    '.deploy.yml': 'start: { type: pm2, config: ecosystem.config.js }\n',
    'ecosystem.config.js': "module.exports = { name: 'web', script: 'server.js' };\n",
  });
  assert.is((await world.deploy([], env)).status, 1);
  assert.match(
    String(world.events().at(-1)?.error),
    /^start: the name 'web' is taken: pm2 runs a process of that name that runner did not start;/,
  );
  assert.not.ok(calls().some((call) => /^pm2 (start|delete)/.test(call)));
});

const projectIn = (call: string | undefined) => /--project-name (\S+)/.exec(call ?? '')?.[1] ?? '';

test('apps whose names differ only in case and punctuation have projects of their own', async ({
  world,
}) => {
  const { env, calls } = recording(['docker'], '');
  await commit(world, { '.deploy.yml': 'start: { type: compose }\n', 'compose.yaml': '' });
  const names = ['my.app', 'my-app', 'MY-APP'];
  for (const name of names) {
    const args = ['--name', name, '--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
    assert.is((await run('runner-add', args, { root: world.root, stdin: TOKEN })).status, 0);
    assert.is((await run('runner-deploy', [name], { root: world.root, env })).status, 0);
  }
  const projects = calls()
    .filter((call) => call.includes(' up '))
    .map(projectIn);
  assert.is(new Set(projects).size, 3);
  for (const project of projects) assert.match(project, /^runner-my-app-default-[0-9a-f]{4}$/);
  await run('runner-remove', ['my.app', '--yes'], { root: world.root, env });
  const down = calls().filter((call) => call.includes(' down '));
  assert.equal(down.map(projectIn), [projects[0]]);
});

/** A docker whose project `shop-default` was made from this folder. */
const oldProject = (folder: string) =>
  recording(
    ['docker'],
    `case "$*" in *'project=shop-default'*) echo '${folder}/releases/x' ;; esac`,
  );

test('a project that 0.1.0 made is kept, with its volumes, as long as the app is there', async ({
  world,
}) => {
  const { env, calls } = oldProject(join(world.root, 'apps/shop'));
  await commit(world, { '.deploy.yml': 'start: { type: compose }\n', 'compose.yaml': '' });
  assert.is((await world.deploy([], env)).status, 0);
  // The containers may be gone when it is asked for again.
  const later = recording(['docker'], '');
  assert.is((await world.deploy([], later.env)).status, 0);
  await run('runner-remove', ['shop', '--yes'], { root: world.root, env: later.env });
  const all = [...calls(), ...later.calls()].filter((call) => / (up|down) /.test(call));
  assert.equal(all.map(projectIn), ['shop-default', 'shop-default', 'shop-default']);
});

test('a project of that old name that another app made is not touched', async ({ world }) => {
  const { env, calls } = oldProject(join(world.root, 'apps/other'));
  await commit(world, { '.deploy.yml': 'start: { type: compose }\n', 'compose.yaml': '' });
  assert.is((await world.deploy([], env)).status, 0);
  await run('runner-remove', ['shop', '--yes'], { root: world.root, env });
  const all = calls().filter((call) => / (up|down) /.test(call));
  assert.is(all.length, 2);
  for (const call of all) assert.match(projectIn(call), /^runner-shop-default-[0-9a-f]{4}$/);
});

test('a unit that runs for another app is refused before anything changes', async ({ world }) => {
  const { env, calls } = recording(['systemctl'], 'echo active');
  const file =
    'start: { type: systemd, unit: web.service }\ninstances: { default: { domain: shop.example.org } }\n';
  await commit(world, { '.deploy.yml': file });
  assert.is((await world.deploy([], env)).status, 0);
  const args = ['--name', 'other', '--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  await run('runner-add', args, { root: world.root, stdin: TOKEN });
  const before = calls().length;
  const words =
    'start: the unit web.service is the one of default of shop: give this app its own unit';
  const checked = await run('runner-deploy', ['other', '--check', '--json'], {
    root: world.root,
    env,
  });
  assert.is(checked.status, 1);
  const { problems, warnings } = JSON.parse(checked.stdout);
  assert.equal(problems, [words]);
  assert.equal(warnings, [
    'domain: shop.example.org is the one of shop, too: a proxy shows one of them',
  ]);
  const done = await run('runner-deploy', ['other'], { root: world.root, env });
  assert.is(done.status, 1);
  assert.is(world.events().at(-1)?.error, words);
  const acts = calls().slice(before);
  assert.not.ok(
    acts.some((call) => / (restart|stop|reset-failed) /.test(call)),
    acts.join('\n'),
  );
});

test.run();
