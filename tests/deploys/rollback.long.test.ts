import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployed } from '@runner/common/apps/deployed';
import { killApp } from '@runner/testing/app';
import { type Ended, run, start } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { deployFile, gate, type World, worldSuite } from './world.ts';

const test = worldSuite('rollback');

const rollback = (world: World, args: readonly string[] = []): Promise<Ended> =>
  run('runner-rollback', ['shop', ...args], { root: world.root });

type Instances = Record<'default', { current: Deployed; previous: Deployed[] }>;

async function deployAll(world: World, ...versions: string[]): Promise<void> {
  for (const version of versions) {
    await world.launch(version);
  }
}

test('the version before answers again, with the network gone, and its abandoned commit is held', async ({
  world,
}) => {
  await deployAll(world, 'v1', 'v2');
  await world.git.close();
  const done = await rollback(world);
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stdout, /^Rolled back shop from v2 to v1 \[[0-9a-f]{8}\]\n$/);
  assert.is(await world.page(), 'v1');
  const event = world.events().at(-1);
  assert.is(event?.event_type, 'RollbackSuccess');
  assert.is(event?.version, 'v1');
  assert.is(event?.from_version, 'v2');
  assert.is(event?.reason, 'manual');
  assert.is(event?.subject, 'v1');
  assert.type(event?.duration_ms, 'number');
  assert.match((world.state().held as { reason: string }).reason, /^v2 was rolled back by hand$/);
});

test('a second rollback reaches the version before, and --to can go forward', async ({ world }) => {
  await deployAll(world, 'v1', 'v2', 'v3');
  await rollback(world);
  await rollback(world);
  assert.is(await world.page(), 'v1');
  const forward = await rollback(world, ['--to', 'v3', '--json']);
  assert.is(forward.status, 0, forward.stderr);
  assert.is(await world.page(), 'v3');
  assert.is(world.state().held, null);
});

const fetchDeploy = (world: World): Promise<Ended> =>
  run('runner-fetch', ['--deploy'], { root: world.root });

test('rolling back twice keeps the head of the branch on hold', async ({ world }) => {
  await deployAll(world, 'v1', 'v2', 'v3', 'v4');
  const head = (world.state().instances as Instances).default.current?.commit;
  await rollback(world);
  await rollback(world);
  assert.is(await world.page(), 'v2');
  const held = world.state().held as { commit: string; head: string; commits: string[] };
  assert.equal([held.commit, held.head, held.commits.length], [head, head, 2]);
  const fetched = await fetchDeploy(world);
  assert.equal([fetched.status, fetched.stdout], [0, 'shop: on hold: v4 was rolled back\n']);
  const { reason } = world.state().held as { reason: string };
  assert.is(reason, 'v4 was rolled back by hand');
  assert.is(await world.page(), 'v2');
  await world.push('v5');
  assert.match((await fetchDeploy(world)).stdout, /^shop: deployed v5$/m);
  assert.is(world.state().held, null);
});

test('a hold says what was rolled back, and which newer commit waits', async ({ world }) => {
  await deployAll(world, 'v1', 'v2');
  await world.push('v3');
  await run('runner-fetch', [], { root: world.root });
  await rollback(world);
  assert.is((await fetchDeploy(world)).stdout, 'shop: on hold: v2 was rolled back; v3 waits\n');
  const { stdout } = await run('runner-status', ['shop', '--json'], { root: world.root });
  const { held, next } = JSON.parse(stdout);
  assert.is(held.reason, 'v2 was rolled back by hand; v3 waits');
  assert.is(next, `held until the next push to main: ${held.reason}`);
});

test('a head that --ref skipped stays on hold when another version is rolled back', async ({
  world,
}) => {
  await deployAll(world, 'v1', 'v2');
  await world.push('v3');
  await run('runner-fetch', [], { root: world.root });
  assert.is((await world.deploy(['--ref', 'v2'])).status, 0);
  await rollback(world, ['--to', 'v1']);
  assert.is((await fetchDeploy(world)).stdout, 'shop: on hold: v2 was rolled back; v3 waits\n');
  assert.is(await world.page(), 'v1');
});

test('a clock that was set back does not end the hold', async ({ world }) => {
  await deployAll(world, 'v1', 'v2');
  const state = world.state() as { instances: Instances };
  const [before] = state.instances.default.previous;
  assert.ok(before);
  before.deployed_at = new Date(Date.now() + 3_600_000).toISOString();
  writeFileSync(join(world.root, 'state/shop.json'), JSON.stringify(state), { mode: 0o600 });
  assert.match((await rollback(world)).stdout, /from v2 to v1/);
  assert.is.not(world.state().held, null);
  assert.match((await fetchDeploy(world)).stdout, /^shop: on hold: v2 was rolled back$/m);
});

test('a rollback never goes forward without --to, also after a jump', async ({ world }) => {
  await deployAll(world, 'v1', 'v2', 'v3');
  assert.match((await rollback(world, ['--to', 'v1'])).stdout, /from v3 to v1/);
  const none = await rollback(world);
  assert.equal(
    [none.status, none.stderr],
    [1, "runner rollback: 'shop' has no earlier version to roll back to (version_not_found)\n"],
  );
  assert.match((await rollback(world, ['--to', 'v2'])).stdout, /from v1 to v2/);
  assert.match((await rollback(world)).stdout, /from v2 to v1/);
  assert.is(await world.page(), 'v1');
});

test('after a failed deploy a rollback changes nothing and says how to go back', async ({
  world,
}) => {
  await deployAll(world, 'v1', 'v2');
  await world.push('v3', { deploy: deployFile(world.port, 'build: exit 1\n') });
  assert.is((await world.deploy()).status, 1);
  const before = world.state();
  const done = await rollback(world);
  const sentence = 'v2 is active: v3 failed and was not kept; to undo v2';
  assert.equal(
    [done.status, done.stdout, done.stderr],
    [0, `${sentence}: runner rollback shop --to v1\n`, ''],
  );
  assert.equal(world.state(), before);
  const json = JSON.parse((await rollback(world, ['--json'])).stdout) as Record<string, unknown>;
  assert.equal([json.result, json.version], ['unchanged', 'v2']);
  assert.match((await rollback(world, ['--to', 'v1'])).stdout, /from v2 to v1/);
  // The head of the branch is the commit that failed: the timer skips it too.
  assert.match((await fetchDeploy(world)).stdout, /^shop: on hold: /);
});

test('each instance goes to its own earlier version, and the answer names each', async ({
  world,
}) => {
  const two = `instances: { api: {}, web: {} }\nstart: { type: none }\n`;
  for (const version of ['v1', 'v2', 'v3']) await world.push(version, { deploy: two });
  assert.is((await world.deploy(['--ref', 'v1'])).status, 0);
  assert.is((await world.deploy(['--ref', 'v2'])).status, 0);
  assert.is((await world.deploy(['--ref', 'v3', '--instance', 'web'])).status, 0);
  const done = await rollback(world);
  assert.match(
    done.stdout,
    /^Rolled back shop: api from v2 to v1, web from v3 to v2 \[[0-9a-f]{8}\]\n$/,
    done.stderr,
  );
  const again = await rollback(world);
  assert.match(
    again.stdout,
    /^Rolled back shop: web from v2 to v1 \[|^Rolled back shop from v2 to v1 \[/,
  );
  assert.match(again.stderr, /api has no earlier version: it stays at v1\n/);
});

test('a redeployed commit replaces itself: a rollback leads to another commit', async ({
  world,
}) => {
  await deployAll(world, 'v1', 'v2');
  for (const _ of [1, 2]) assert.is((await world.deploy()).status, 0);
  const { default: kept } = world.state().instances as Record<string, { previous: Deployed[] }>;
  assert.equal(
    kept?.previous.map(({ version }) => version),
    ['v1'],
  );
  // The release that was replaced last stays until the next deploy: it may still be used.
  assert.is(readdirSync(join(world.root, 'apps/shop/releases')).length, 3);
  const done = await rollback(world);
  assert.match(done.stdout, /^Rolled back shop from v2 to v1 \[/, done.stderr);
  assert.is(await world.page(), 'v1');
});

test('duplicate releases of one commit from an older runner are skipped', async ({ world }) => {
  await deployAll(world, 'v1', 'v2');
  const state = world.state() as {
    instances: { default: { current: Deployed; previous: Deployed[] } };
  };
  const { current, previous } = state.instances.default;
  previous.unshift({ ...current, release: `${current.release}-twin` });
  writeFileSync(join(world.root, 'state/shop.json'), JSON.stringify(state), { mode: 0o600 });
  const done = await rollback(world);
  assert.match(done.stdout, /^Rolled back shop from v2 to v1 \[/, done.stderr);
});

test('two commits of one version are distinguished by commit', async ({ world }) => {
  await deployAll(world, 'v1');
  const old = String(world.state().head).slice(0, 12);
  await world.launch('v1', { files: { 'moved.txt': 'the tag was moved\n' } });
  const head = String(world.state().head).slice(0, 12);
  const status = await run('runner-status', ['shop', '--offline'], { root: world.root });
  assert.match(status.stdout, `kept: v1 (${old})`);
  const either = await rollback(world, ['--to', 'v1']);
  assert.equal(
    [either.status, either.stderr],
    [
      1,
      `runner rollback: 'shop' keeps 2 commits of v1: ${head}, ${old}; choose one: runner rollback shop --to ${old} (ref_ambiguous)\n`,
    ],
  );
  const back = await rollback(world, ['--to', old]);
  assert.match(back.stdout, `Rolled back shop from v1 (${head}) to v1 (${old}) [`);
  killApp(world.root, 'shop');
  const down = await run('runner-status', ['shop'], { root: world.root });
  assert.match(down.stdout, 'run: runner start shop\n');
});

test('with no earlier version, or an unknown one, nothing is touched', async ({ world }) => {
  await deployAll(world, 'v1');
  const none = await rollback(world);
  assert.is(none.status, 1);
  assert.is(
    none.stderr,
    "runner rollback: 'shop' has no earlier version to roll back to (version_not_found)\n",
  );
  await deployAll(world, 'v2');
  const unknown = await rollback(world, ['--to', 'v9']);
  assert.is(
    unknown.stderr,
    "runner rollback: 'shop' has no kept version 'v9'; kept: v1 (version_not_found)\n",
  );
  const instance = await rollback(world, ['--instance', 'nope']);
  assert.is(
    instance.stderr,
    "runner rollback: 'shop' has no instance 'nope' that was deployed; it has: default (instance_not_found)\n",
  );
  assert.is(await world.page(), 'v2');
  assert.is(world.kinds().length, 4);
});

test('a rollback to a version that is no longer healthy is undone: the active one answers', async ({
  world,
}) => {
  await deployAll(world, 'v1');
  const old = world.current() ?? '';
  await deployAll(world, 'v2');
  rmSync(join(world.root, 'apps/shop/instances/default', old, 'server.js'));
  const done = await rollback(world);
  assert.is(done.status, 1);
  assert.match(
    done.stdout,
    /^Failed to roll back shop \[[0-9a-f]{8}\]\. v2 is active as before\.\n$/,
  );
  assert.is(await world.page(), 'v2');
  assert.is(world.events().at(-1)?.event_type, 'DeployFailure');
  assert.is(world.state().held, null);
});

test('while a deploy runs a rollback is refused with 75', async ({ world }) => {
  await deployAll(world, 'v1', 'v2');
  const held = gate();
  await world.push('v3', { deploy: deployFile(world.port, held.build) });
  const running = start('runner-deploy', ['shop'], { root: world.root });
  await held.reached();
  const done = await rollback(world);
  assert.is(done.status, 75);
  assert.match(
    done.stderr,
    /'shop' is busy: deploy.*, begun by .*, process \d+; see: runner status shop \(locked\)\n$/,
  );
  held.open();
  assert.is((await running.done).status, 0);
});

test('a process started by another type is stopped, on rollback and on deploy', async ({
  world,
}) => {
  await deployAll(world, 'v1');
  const trace = join(world.root, 'trace');
  await world.launch('v2', {
    deploy: `start: { type: command, run: "echo start >> '${trace}'" }\nstop: echo stop >> '${trace}'\n`,
  });
  const back = await rollback(world);
  assert.is(back.status, 0, back.stderr);
  assert.is(readFileSync(trace, 'utf8'), 'start\nstop\n');
  assert.is(await world.page(), 'v1');
  const forward = await rollback(world, ['--to', 'v2']);
  assert.is(forward.status, 0, forward.stderr);
  assert.is(readFileSync(trace, 'utf8'), 'start\nstop\nstart\n');
  assert.is(await world.page(), null);
});

test.run();
