/** One failure does not hide another: of the head, of a chosen commit, of a rollback by hand. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, gate, impatient, type World, worldSuite } from './world.ts';

const test = worldSuite('failure slots');

const fetched = async (world: World) =>
  (await run('runner-fetch', ['--deploy'], { root: world.root })).stdout;

async function status(world: World): Promise<{ state: string; next: string; held: unknown }> {
  const { stdout } = await run('runner-status', ['shop', '--json'], { root: world.root });
  return JSON.parse(stdout);
}

const FAILS = { files: { HEALTH: '503\n' } };

/** A commit of another branch that does not become healthy. */
const pushFeature = ({ git, port }: World) =>
  git.commit('acme/shop', { ...FAILS.files, '.deploy.yml': impatient(port) }, 'x', {
    branch: 'feature',
  });

test('another commit that fails by hand leaves the block of the head as it is', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  await pushFeature(world);
  await world.push('v2', { deploy: impatient(world.port), ...FAILS });
  for (let time = 1; time <= 3; time += 1) await fetched(world);
  assert.is((await status(world)).state, 'blocked');
  assert.is((await world.deploy(['--ref', 'feature'])).status, 1);
  assert.is(world.events().at(-2)?.blocked, undefined);
  assert.is((await status(world)).state, 'blocked');
  assert.match(await fetched(world), 'deploy blocked, same commit failed 3 times');
});

test('a commit that an operator chose and that failed is not reported as tried again', async ({
  world,
}) => {
  await world.push('v1');
  await world.deploy();
  await pushFeature(world);
  assert.is((await world.deploy(['--ref', 'feature'])).status, 1);
  const { state, next } = await status(world);
  assert.equal([state, next], ['ok', 'the next push to main']);
});

test('a rollback that fails or is killed does not hide that the newest deploy failed', async ({
  world,
}) => {
  const { root, port } = world;
  // v1 starts only while there is no file `stop`.
  const file = join(root, 'stop');
  const fragile = deployFile(port).replace('exec node', `test ! -e '${file}' || exit 1; exec node`);
  await world.push('v1', { deploy: fragile });
  await world.deploy();
  await world.push('v2');
  await world.deploy();
  await world.push('v3', { deploy: impatient(port), ...FAILS });
  await fetched(world);
  writeFileSync(file, '');
  const failed = await run('runner-rollback', ['shop', '--to', 'v1'], { root });
  assert.is(failed.status, 1);
  const shown = await run('runner-status', ['shop'], { root });
  assert.match(shown.stdout, 'last failure:  v1,');
  const again = await run('runner-rollback', ['shop'], { root });
  assert.match(again.stdout, /^v2 is active: v3 failed and was not kept; /);
  assert.match((await status(world)).next, /^1 of 3 attempts used/);
});

test('a redeploy that was killed is not called a version that was not kept', async ({ world }) => {
  await world.push('v1');
  await world.deploy();
  const held = gate();
  await world.push('v2', { deploy: deployFile(world.port, held.build) });
  held.open();
  await world.deploy();
  const flag = held.build.match(/touch '([^']+)'/)?.[1] as string;
  writeFileSync(join(flag, '..', 'go'), '');
  const killed = start('runner-deploy', ['shop'], { root: world.root });
  killed.stdin.end();
  const state = () => readFileSync(join(world.root, 'state/shop.json'), 'utf8');
  await until(() => existsSync(flag) && state().includes('"stage": "start"'), 'it did not start');
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  const back = await run('runner-rollback', ['shop'], { root: world.root });
  assert.match(
    back.stdout,
    'v2 is active: deploying it again failed; to undo v2: runner rollback shop --to v1\n',
  );
});

test('deploy --ref of the head holds nothing, also when an instance leaves .deploy.yml', async ({
  world,
}) => {
  const two = 'instances: { blue: {}, green: {} }\n';
  await world.push('v1', { deploy: two });
  await world.deploy();
  await world.push('v2', { deploy: 'instances: { blue: {} }\n' });
  assert.is((await world.deploy(['--ref', 'v2'])).status, 0);
  const { state, held } = await status(world);
  assert.equal([state, held], ['ok', null]);
});

test('a hold names the person who chose the other version', async ({ world }) => {
  for (const version of ['v1', 'v2']) {
    await world.push(version);
    await world.deploy();
  }
  await run('runner-rollback', ['shop'], { root: world.root, env: { SUDO_USER: 'ada' } });
  assert.is((world.state().held as { by: string }).by, 'ada');
  const shown = await run('runner-status', ['shop'], { root: world.root });
  assert.match(shown.stdout, /^ {2}held: +commit [0-9a-f]{12} since .* UTC by ada$/m);
  await world.deploy(['--ref', 'v1'], { SUDO_USER: 'eve' });
  assert.is((world.state().held as { by: string }).by, 'eve');
});

test.run();
