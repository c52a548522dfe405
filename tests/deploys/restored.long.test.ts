import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { atExit } from '@runner/testing/cleanup';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { deployFile, gate, type World, worldSuite } from './world.ts';

const test = worldSuite('restored');

interface Copy {
  readonly restored: Ended;
  readonly root: string;
  runs(tool: string, ...args: string[]): Promise<Ended>;
  summary(): Promise<Record<string, unknown>>;
}

/** Ends the app, and restores a backup of its root into another one. */
async function moved(world: World, from = world.root): Promise<Copy> {
  const folder = temporaryFolder('moved');
  const [root, file, key] = ['root', 'b.age', 'key'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(key, 'correct horse battery staple\n');
  const made = await run('runner-backup', ['--to', file, '--passphrase-file', key], { root: from });
  assert.is(made.status, 0, made.stderr);
  killApp(from, 'shop');
  const args = [file, '--passphrase-file', key];
  const restored = await run('runner-restore', args, { root });
  assert.is(restored.status, 0, restored.stderr);
  atExit(() => killApp(root, 'shop'));
  const runs = (tool: string, ...args: string[]) => run(`runner-${tool}`, args, { root });
  return {
    restored,
    root,
    runs,
    summary: async () => JSON.parse((await runs('status', 'shop', '--json')).stdout),
  };
}

const last = (text: string) => text.trim().split('\n').at(-1);

test('the first fetch --deploy after a restore deploys what ran and keeps the hold; until then no check is green', async ({
  world,
}) => {
  const v1 = await world.push('v1');
  await world.deploy();
  await world.push('v2');
  await world.deploy();
  assert.is((await run('runner-rollback', ['shop'], { root: world.root })).status, 0);
  const { held } = world.state();
  const { restored, root, runs, summary } = await moved(world);
  assert.match(restored.stdout, '\nApps: shop v1\n');

  const listed = await runs('list', '--offline');
  assert.match(listed.stdout, /shop +down +default +v1 \(to deploy\)/);
  const shown = await runs('status', 'shop');
  assert.match(shown.stdout, 'v1 ran before the restore, and is not deployed here yet');
  assert.match(shown.stdout, 'runner fetch shop --deploy');
  const checked = await runs('status', '--check');
  assert.equal(
    [checked.status, checked.stdout],
    [
      1,
      'shop: down: v1 ran before the restore and is not deployed here yet; run: runner fetch shop --deploy\n',
    ],
  );
  const warned = async () =>
    JSON.parse((await runs('deploy', 'shop', '--check', '--json')).stdout).warnings;
  assert.equal(await warned(), [
    'fetch --deploy first deploys v1, which ran before the restore; check that with: runner deploy shop --ref v1 --check',
  ]);
  const doctor = await runs('doctor', '--offline');
  assert.is(doctor.status, 1);
  assert.match(doctor.stdout, 'shop is not running: default');
  assert.match((await runs('why', 'shop')).stdout, /^ {2}type: {5}runner deploy shop --ref v1$/m);
  for (const tool of ['start', 'rollback', 'restart']) {
    const refused = await runs(tool, 'shop');
    assert.is(refused.status, 1);
    assert.match(
      refused.stderr,
      "v1 of 'shop' ran before the restore and is not deployed here yet: run runner fetch shop --deploy, or runner deploy shop --ref v1 (version_not_found)",
    );
  }

  // Before its first deploy, a restored root can be moved on.
  const again = await moved(world, root);
  assert.match(again.restored.stdout, '\nApps: shop v1\n');

  assert.is((await runs('fetch')).stdout, 'shop: v1 ran before the restore: to be deployed\n');
  const first = await runs('fetch', '--deploy');
  assert.equal([first.status, last(first.stdout)], [0, 'shop: deployed v1'], first.stderr);
  assert.is(await world.page(), 'v1');
  const now = await summary();
  assert.equal([now.state, now.held], ['held', held]);
  assert.is((now.instances as { current: { commit: string } }[])[0]?.current.commit, v1);
  const next = await runs('fetch', '--deploy');
  assert.equal([next.status, next.stdout], [0, 'shop: on hold: v2 was rolled back\n']);
  assert.is((await runs('status', '--check')).status, 0);
  killApp(root, 'shop');
});

test('a failed or blocked head stays so and the version before it runs again, also in a paused app', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  await world.push('v2', { deploy: deployFile(world.port, 'build: exit 1\n') });
  const fails = async (root: string) => {
    const failed = await run('runner-fetch', ['--deploy'], { root });
    assert.equal(
      [failed.status, last(failed.stdout)],
      [1, 'shop: deploy of v2 failed at build, v1 is active'],
    );
  };
  await fails(world.root);
  const failing = await moved(world);
  const first = await failing.runs('fetch', '--deploy');
  assert.equal([first.status, last(first.stdout)], [0, 'shop: deployed v1'], first.stderr);
  assert.is(await world.page(), 'v1');
  assert.is((await failing.summary()).state, 'failing');
  for (let count = 2; count <= 3; count += 1) await fails(failing.root);
  assert.is((await run('runner-pause', ['shop'], { root: failing.root })).status, 0);

  const blocked = await moved(world, failing.root);
  const second = await blocked.runs('fetch', '--deploy');
  assert.equal([second.status, last(second.stdout)], [0, 'shop: deployed v1'], second.stderr);
  assert.is(await world.page(), 'v1');
  const { state, paused } = await blocked.summary();
  assert.equal([state, paused !== null], ['blocked', true]);
  assert.is(
    (await blocked.runs('fetch', '--deploy')).stdout,
    'shop: deploy blocked, same commit failed 3 times\n',
  );
  killApp(blocked.root, 'shop');
});

test('an app that an operator stopped stays stopped, and the output says how to start it', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  assert.is((await run('runner-stop', ['shop'], { root: world.root })).status, 0);
  const { restored, runs, summary } = await moved(world);
  assert.match(restored.stdout, '\nApps: shop v1 (stopped)\n');
  const fetched = await runs('fetch', '--deploy');
  assert.is(fetched.status, 0);
  assert.is(await world.page(), null);
  const { state, next } = await summary();
  assert.equal([state, next], ['stopped', 'nothing until runner deploy shop --ref v1']);
  assert.is((await runs('status', '--check')).status, 0);
  assert.is((await runs('deploy', 'shop', '--ref', 'v1')).status, 0);
  assert.is(await world.page(), 'v1');
});

test('instances that ran different commits get them back', async ({ world }) => {
  const two = `instances: { web: {}, job: {} }
start: { type: process, run: exec sleep 1000 }
`;
  await world.push('v1', { deploy: two });
  await world.deploy();
  await world.push('v2', { deploy: two });
  assert.is((await world.deploy(['--instance', 'web'])).status, 0);
  const { restored, root: copy, runs, summary } = await moved(world);
  assert.match(restored.stdout, /\nApps: shop \((job v1, web v2|web v2, job v1)\)\n/);
  const fetched = await runs('fetch', '--deploy');
  assert.is(fetched.status, 0, fetched.stderr);
  const { instances } = (await summary()) as {
    instances: { instance: string; running: boolean; current: { version: string } }[];
  };
  assert.equal(
    instances.map(({ instance, running, current }) => [instance, running, current.version]).sort(),
    [
      ['job', true, 'v1'],
      ['web', true, 'v2'],
    ],
  );
  for (const root of [world.root, copy]) await run('runner-stop', ['shop'], { root });
});

test('apps deployed by hand since the restore are left alone; the others are started', async ({
  world,
}) => {
  const deploy =
    'instances: { web: {}, job: {} }\nstart: { type: process, run: exec sleep 1000 }\n';
  await world.push('v1', { deploy });
  await world.deploy();
  const { runs, root: copy, summary } = await moved(world);
  await world.push('v2', { deploy });
  assert.is((await runs('deploy', 'shop', '--instance', 'web')).status, 0);
  assert.is(last((await runs('fetch', '--deploy')).stdout), 'shop: deployed v1');
  const { instances } = (await summary()) as {
    instances: { instance: string; current: { version: string } }[];
  };
  assert.equal(instances.map(({ instance, current }) => `${instance} ${current.version}`).sort(), [
    'job v1',
    'web v2',
  ]);
  for (const root of [world.root, copy]) await run('runner-stop', ['shop'], { root });
});

test('a version that ran elsewhere and fails here is retried like a head, then left to the operator', async ({
  world,
}) => {
  const flag = join(temporaryFolder('flag'), 'here');
  await world.push('v1', { deploy: deployFile(world.port, `build: "! test -e '${flag}'"\n`) });
  await world.deploy();
  await world.push('v2', { deploy: deployFile(world.port, 'build: exit 1\n') });
  const { runs, summary } = await moved(world);
  writeFileSync(flag, '');
  for (let count = 1; count <= 3; count += 1) {
    const failed = await runs('fetch', '--deploy');
    assert.equal(
      [failed.status, last(failed.stdout)],
      [1, 'shop: deploy of v1 failed at build, nothing is active'],
    );
  }
  const left = await runs('fetch', '--deploy');
  assert.equal(
    [left.status, left.stdout],
    [0, 'shop: v1 ran before the restore: blocked, it failed here 3 times\n'],
  );
  const { state, next } = await summary();
  assert.equal(
    [state, next],
    ['down', 'v1 ran before the restore and failed here 3 times; run: runner deploy shop --ref v1'],
  );
});

test('what ran before the restore is deployed although its file breaks a later rule', async ({
  world,
}) => {
  await world.launch('v1');
  const rules = 'watch: { for: 10s, errors: 1% }\n';
  const commit = await world.push('v2', { deploy: deployFile(world.port, rules) });
  assert.is((await world.deploy()).status, 1);
  const { root, runs } = await moved(world);
  const file = join(root, 'state/shop.json');
  const text = readFileSync(file, 'utf8');
  const { restored } = JSON.parse(text);
  const ran = { ...restored.instances.default, version: 'v2', commit };
  const instances = { ...restored.instances, default: ran };
  const state = { ...JSON.parse(text), restored: { ...restored, instances } };
  writeFileSync(file, JSON.stringify(state));
  const { stdout, stderr } = await runs('fetch', '--deploy');
  assert.is(stdout, 'shop: deployed v2\n', stderr);
});

test('a deploy that ran during the backup ends as interrupted where it is restored', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  const { build, reached, open } = gate();
  await world.push('v2', { deploy: deployFile(world.port, build) });
  const deploy = world.deploy();
  await reached();
  const { root, runs, summary } = await moved(world);
  assert.is((await summary()).state, 'interrupted');
  assert.match((await runs('cancel', 'shop')).stdout, 'Nothing to cancel');
  const fetched = await runs('fetch', '--deploy');
  assert.equal([fetched.status, last(fetched.stdout)], [0, 'shop: deployed v1'], fetched.stderr);
  const { deploying } = world.state() as { deploying: { deploy_id: string } };
  const log = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8').trim().split('\n');
  const kinds = log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((event) => event.deploy_id === deploying.deploy_id)
    .map((event) => [event.event_type, event.stage, event.interrupted]);
  assert.equal(kinds, [
    ['DeployStarted', undefined, undefined],
    ['DeployFailure', 'build', true],
  ]);
  const verified = await runs('audit', 'verify');
  assert.is(verified.status, 0, verified.stdout);
  killApp(root, 'shop');
  open();
  assert.is((await deploy).status, 0);
  assert.is(await world.page(), 'v2');
});

test.run();
