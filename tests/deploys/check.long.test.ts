import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeployPlan } from '@runner/deploy/pipeline/check';
import { run, start } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { announced, look, makeStage } from './matrix.ts';
import { deployFile, gate, TOKEN, type World, worldSuite } from './world.ts';

const test = worldSuite('deploy --check');

const check = (world: World, args: readonly string[] = [], env = {}) =>
  world.deploy(['--check', ...args], env);

const planned = async (world: World, args: readonly string[] = [], env = {}) => {
  const done = await check(world, ['--json', ...args], env);
  return { ...done, plan: JSON.parse(done.stdout) as DeployPlan };
};

test('the plan names every step, and nothing is deployed, recorded or announced', async () => {
  const stage = await makeStage('second');
  const { world, chat } = stage;
  const commit = await world.push('v2', {
    deploy: announced(world, 'build: [npm ci, npm run build]\nhooks: { pre_switch: ./migrate }\n'),
  });
  const before = tree(join(world.root, 'state'));
  const { status, stderr, plan } = await planned(world);
  assert.equal([status, stderr], [0, '']);
  assert.equal(plan, {
    ...plan,
    app: 'shop',
    result: 'valid',
    problems: [],
    repo: 'acme/shop',
    ref: 'main',
    commit,
    version: 'v2',
    deploy_file: true,
    token: 'accepted',
    instances: [{ instance: 'default', domain: null, env: ['PORT'], current: 'v1' }],
    steps: [
      'export v2',
      'build: npm ci',
      'build: npm run build',
      'pre_switch: ./migrate',
      'switch default',
      'start default: process, exec node server.js',
      `health of default: http://127.0.0.1:${world.port}/health, every 0.05 s, 5 s each, within 60 s`,
    ],
    submodules: [],
    start: 'process',
    notify: 'all',
    keep: 5,
  });
  const text = await check(world);
  assert.match(text.stdout, /^shop v2\n {2}source: +acme\/shop, main, commit [0-9a-f]{12}\n/);
  assert.match(text.stdout, /\nValid: nothing was deployed\.\n$/);
  const yaml = await check(world, ['-o', 'yaml']);
  assert.match(yaml.stdout, /^app: shop\nresult: valid\nproblems: \[\]\n/);
  assert.equal(tree(join(world.root, 'state')), before);
  const picture = await look(stage);
  assert.equal([picture.page, picture.events, picture.messages], ['v1', [], []]);
  await world.close();
  await chat.close();
});

test('a wrong .deploy.yml is reported with file, line and key, in every format', async ({
  world,
}) => {
  await world.push('v1', { deploy: 'keep: 3\nbuild:\n  timeout: 0s\n' });
  const sentence = '.deploy.yml:3: build.timeout: must be longer than 0';
  const done = await check(world);
  assert.equal(
    [done.status, done.stdout, done.stderr],
    [1, '', `runner deploy: ${sentence} (deploy_file_invalid)\n`],
  );
  const json = await check(world, ['--json']);
  assert.equal(JSON.parse(json.stdout), {
    line: 3,
    key: 'build.timeout',
    error: 'deploy_file_invalid',
    message: sentence,
  });
  assert.equal([world.kinds(), world.state().failures], [[], null]);
});

test('another ref and one instance can be checked as well', async ({ world }) => {
  await world.push('v1', { deploy: 'instances: { eu: { domain: eu.example.org }, us: {} }\n' });
  await world.push('v2', { deploy: 'nope: 1\n' });
  const { plan } = await planned(world, ['--ref', 'v1', '--instance', 'eu']);
  assert.equal([plan.version, plan.ref], ['v1', 'v1']);
  assert.equal(
    plan.instances.map(({ instance, domain }) => [instance, domain]),
    [['eu', 'eu.example.org']],
  );
  const unknown = await check(world, ['--ref', 'v1', '--instance', 'asia']);
  assert.match(unknown.stderr, /has no instance 'asia'; it has: eu, us \(instance_not_found\)\n$/);
});

/** A PATH on which node and git are, and these programs. */
function pathWith(programs: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('bin');
  const all = { node: `exec ${process.execPath} "$@"`, ...programs };
  for (const [name, script] of Object.entries(all)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** Folders with git and coreutils and without any supervisor. */
function plainFolder(): string {
  const folder = temporaryFolder('plain');
  for (const name of ['git', 'tar', 'flock', 'sh', 'cat', 'env']) {
    const script = `#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin exec ${name} "$@"\n`;
    if (name !== 'sh') writeFileSync(join(folder, name), script, { mode: 0o755 });
  }
  return folder;
}

for (const [what, deploy, programs, problems] of [
  ['pm2 that is missing', 'start: { type: pm2, run: x }\n', {}, ['start: pm2 is not on PATH']],
  [
    'docker without compose',
    'start: { type: compose, file: VERSION }\n',
    { docker: 'exit 1' },
    ['start: docker compose is missing: install the plugin'],
  ],
  [
    'a compose file that is not there',
    'start: { type: compose }\n',
    { docker: 'exit 0' },
    ['start: the commit has no file compose.yaml'],
  ],
  [
    'a unit that systemd does not know',
    'start: { type: systemd, unit: shop@.service }\ninstances: { eu: {}, us: {} }\n',
    { systemctl: 'case "$*" in *us.service) echo not-found ;; *) echo loaded ;; esac' },
    ['start: systemd has no unit shop@us.service: sudo runner setup shop'],
  ],
  [
    'a systemd that does not answer',
    'start: { type: systemd, unit: shop.service }\n',
    { systemctl: 'exit 1' },
    ['start: systemd does not answer'],
  ],
] as const) {
  test(`${what} is reported as a problem, with status 1`, async ({ world }) => {
    await world.push('v1', { deploy });
    const PATH = `${pathWith(programs)}:${plainFolder()}`;
    const { status, plan } = await planned(world, [], { PATH });
    assert.equal([status, plan.result, plan.problems], [1, 'invalid', problems]);
    const text = await check(world, [], { PATH });
    assert.ok(text.stdout.endsWith(`Not ready:\n  ${problems[0]}\n`), text.stdout);
  });
}

test('a missing shared file is a problem until it is created, in a folder that the check makes', async ({
  world,
}) => {
  await world.push('v1', { deploy: deployFile(world.port, 'shared: [.env, VERSION, up/]') });
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  const missing = await planned(world);
  assert.equal(missing.plan.problems, [
    `shared: the file ${shared}/.env does not exist yet: create it`,
  ]);
  writeFileSync(join(shared, '.env'), '');
  assert.is((await planned(world)).plan.result, 'valid');
});

test('paths that match nothing are warned of, since no push would be deployed', async ({
  world,
}) => {
  await world.push('v1', { deploy: deployFile(world.port) });
  const follow = (paths: string) =>
    run('runner-edit', ['shop', '--paths', paths], { root: world.root });
  await follow('apps/wbe,libs');
  const warning =
    'paths: nothing in the commit matches apps/wbe,libs, so no push is deployed; run: runner edit shop --paths <PATHS>';
  assert.ok((await planned(world)).plan.warnings.includes(warning));
  assert.match((await world.deploy()).stderr, `runner deploy: ${warning}\n`);
  await follow('apps/wbe,server.js');
  assert.not.match((await world.deploy()).stderr, 'paths:');
});

test('a refused token is reported as such; during a deploy the status is 75', async ({ world }) => {
  const held = gate();
  await world.push('v1', { deploy: deployFile(world.port, held.build) });
  const running = start('runner-deploy', ['shop'], { root: world.root });
  await held.reached();
  const busy = await check(world);
  assert.is(busy.status, 75);
  process.kill(running.pid, 'SIGINT');
  await running.done;
  world.git.revoke(TOKEN);
  const refused = await check(world);
  assert.is(refused.status, 1);
  assert.match(refused.stderr, /\(token_invalid\)\n$/);
});

test('--check waits for another command of the app with --wait', async ({ world }) => {
  const held = gate();
  await world.push('v1', { deploy: held.build });
  const first = world.deploy();
  await held.reached();
  assert.is((await world.deploy(['--check'])).status, 75);
  const waiting = world.deploy(['--check', '--wait', '60s']);
  held.open();
  const waited = await waiting;
  assert.is(waited.status, 0, waited.stderr);
  assert.is((await first).status, 0);
});

test.run();
