/** A deploy or rollback whose caller chose its id runs once, however often it is asked for. */
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, gate, impatient, type World, worldSuite } from './world.ts';

const test = worldSuite('deploy-id');

const json = ({ stdout }: { stdout: string }) =>
  JSON.parse(stdout.trim().split('\n').at(-1) as string) as Record<string, unknown>;
const ID = ['--deploy-id', 'feed0001', '--trigger', 'fleet', '--json'];
const starts = (world: World) => world.kinds().filter((kind) => kind === 'DeployStarted').length;

test('an id that the log knows is not run again: success and failure are returned as they were', async ({
  world,
}) => {
  await world.push('v1');
  const first = await world.deploy(ID);
  await world.push('v2', { health: 503, deploy: impatient(world.port) });
  const again = await world.deploy(ID);
  // The record does not have these.
  const { log, instance, gap_ms, probes, url, urls, ...known } = json(first);
  assert.ok(log && url && urls, 'what the record leaves out');
  assert.equal({ ...json(again), ...known }, json(again));
  assert.equal([first.status, again.status, starts(world)], [0, 0, 1]);
  assert.is(world.events()[0]?.trigger, 'fleet');
  const { stdout, stderr } = await world.deploy(ID.slice(0, 2));
  assert.match(stdout, /^Deployed shop v1 /);
  assert.is(
    stderr,
    'runner deploy: feed0001 has ended already: this is its result, nothing was done\n',
  );
  const other = ['--deploy-id', 'feed0002', '--json'];
  const failed = await world.deploy(other);
  const repeated = await world.deploy(other);
  assert.equal([failed.status, repeated.status, starts(world)], [1, 1, 2]);
  for (const key of ['result', 'stage', 'error', 'version', 'active_version'])
    assert.is(json(repeated)[key], json(failed)[key], key);
});

test('its end is awaited, even if it was killed; a rollback also runs once', async ({ world }) => {
  await world.push('v1');
  await world.deploy();
  const { build, reached, open } = gate();
  await world.push('v2', { deploy: deployFile(world.port, build) });
  const first = start('runner-deploy', ['shop', ...ID], { root: world.root });
  await reached();
  const second = world.deploy(ID);
  open();
  assert.equal([(await first.done).status, (await second).status, starts(world)], [0, 0, 2]);

  const held = gate();
  await world.push('v3', { deploy: deployFile(world.port, held.build) });
  const other = ['--deploy-id', 'feed0003', '--json'];
  const killed = start('runner-deploy', ['shop', ...other], { root: world.root });
  await held.reached();
  killed.kill('SIGKILL');
  const end = json(await world.deploy(other));
  assert.equal([end.result, starts(world)], ['failed', 3]);
  assert.match(String(end.error), /interrupted/);

  const back = () =>
    run('runner-rollback', ['shop', '--to', 'v1', '--deploy-id', 'feed0004', '--json'], {
      root: world.root,
    });
  await until(async () => (await world.page()) === 'v2', 'v2 does not answer');
  const [one, two] = [json(await back()), json(await back())];
  assert.equal([one.version, two.version, two.from_version], ['v1', 'v1', 'v2']);
  assert.is(await world.page(), 'v1');
  assert.match((await back()).stderr, 'feed0004 has ended already: this is its result');
});

test('an id that is malformed, or of another app, is refused', async ({ world }) => {
  const wrong = await world.deploy(['--deploy-id', 'FEED']);
  assert.equal([wrong.status, /8 hexadecimal digits/.test(wrong.stderr)], [2, true]);
});

test.run();
