/** What a deploy finds missing on the server before it builds. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording } from './fake-programs.ts';
import { makeWorld, type World } from './world.ts';

const test = suite<{ world: World; built: string }>('preflight');

test.before.each(async (context) => {
  context.world = await makeWorld();
  context.built = join(temporaryFolder('built'), 'built');
});
test.after.each(async ({ world }) => {
  await world.close();
});

const fetch = (world: World, env: Record<string, string> = {}) =>
  run('runner-fetch', ['--deploy'], { root: world.root, env });
const failures = (world: World) =>
  world.events().filter(({ event_type: kind }) => kind === 'DeployFailure');

test('a missing unit fails the deploy before its build, and counts no attempt', async ({
  world,
  built,
}) => {
  const deploy = `build: touch '${built}'\nstart: { type: systemd, unit: shop.service }\n`;
  await world.push('v1', { deploy });
  const { env } = recording(['systemctl'], 'echo not-found');
  const failed = await world.deploy(['--json'], env);
  const { result, stage, error } = JSON.parse(failed.stdout.trim().split('\n').at(-1) as string);
  const words = 'start: systemd has no unit shop.service: sudo runner setup shop';
  assert.equal([failed.status, result, stage, error], [1, 'failed', 'start', words]);
  assert.not.ok(existsSync(built));
  assert.equal(world.kinds(), ['DeployStarted', 'DeployFailure']);
  assert.equal([failures(world)[0]?.stage, world.state().failures], ['start', null]);
  const shown = await run('runner-debug', ['last-error', 'shop'], { root: world.root });
  assert.match(shown.stdout, words);
});

test('the timer announces a missing file once, looks again each time, and deploys when it is there', async ({
  world,
  built,
}) => {
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  const deploy = `shared: [.env]\nbuild: touch '${built}'\nnotify: { channel: telegram }\n`;
  await world.push('v1', { deploy });
  const missing = `shared: the file ${join(shared, '.env')} does not exist yet: create it`;
  const first = await fetch(world);
  assert.equal(
    [first.status, first.stdout],
    [1, 'shop: deploy of v1 failed at export, nothing is active\n'],
    first.stderr,
  );
  for (const _ of [1, 2, 3, 4]) {
    const again = await fetch(world);
    assert.equal([again.status, again.stdout], [0, `shop: v1 waits: ${missing}\n`], again.stderr);
  }
  assert.equal([failures(world).length, failures(world)[0]?.error], [1, missing]);
  await world.push('v2', { deploy });
  await fetch(world);
  await fetch(world);
  assert.equal(
    failures(world).map(({ version }) => version),
    ['v1', 'v2'],
  );
  assert.not.ok(existsSync(built));
  mkdirSync(shared, { recursive: true });
  writeFileSync(join(shared, '.env'), 'A=1\n');
  assert.is((await fetch(world)).stdout, 'shop: deployed v2\n');
});

test('another cause of the same commit is announced again, and a deploy by hand each time', async ({
  world,
}) => {
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  await world.push('v1', { deploy: 'shared: [one, two]\n' });
  await fetch(world);
  mkdirSync(shared, { recursive: true });
  writeFileSync(join(shared, 'one'), '');
  await fetch(world);
  await fetch(world);
  assert.is(failures(world).length, 2);
  assert.is((await world.deploy()).status, 1);
  assert.is((await world.deploy()).status, 1);
  assert.is(failures(world).length, 4);
});

test('what only a guess finds missing keeps no commit from being deployed', async ({ world }) => {
  await world.push('v1', { deploy: 'build: if false; then nomake; fi\n' });
  const checked = await world.deploy(['--check', '--json']);
  assert.equal(JSON.parse(checked.stdout).problems, ['build: nomake is not on PATH']);
  assert.is((await world.deploy()).status, 0);
});

test.run();
