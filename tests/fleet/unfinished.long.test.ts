/** What follows a rollout that did not reach all servers, with a real broker. */
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { start } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { gate, makeWorld, type World } from '../deploys/world.ts';
import { makeStage, type Stage } from './stage.ts';

const test = suite<Stage & { world: World }>('unfinished rollouts');
const SERVERS = ['web1', 'web2', 'web3'];

test.before(async (scene) => {
  if (!hasBroker()) return;
  const world = await makeWorld();
  Object.assign(scene, await makeStage(SERVERS, { world }), { world });
  await Promise.all(SERVERS.map((server) => scene.startAgent(server)));
});
test.after(async ({ close, world }) => {
  await close?.();
  await world?.close();
});

const withBroker = whenBroker(test);

withBroker('a canary that has not finished is waited for before the others', async (stage) => {
  const { build, open } = gate();
  await stage.world.push('v1', { deploy: build });
  const early = await stage.fleet('deploy', 'shop', '--max-parallel', '3', '--wait', '2s');
  assert.equal([early.status, early.lines[1]?.status], [4, 'no_answer']);
  const rollout = String(early.lines[0]?.rollout);
  const { root } = stage.operator;
  const resuming = start('runner-fleet', ['resume', rollout, '--json'], { root });
  const lines = resuming.stdout[Symbol.asyncIterator]();
  const { batches } = JSON.parse((await lines.next()).value);
  // Only then: a canary that has finished is in no batch.
  open();
  const { status } = await resuming.done;
  assert.equal([status, batches], [0, [['web1'], ['web2', 'web3']]]);
});

withBroker('after a canary that failed, the next server is one', async (stage) => {
  await stage.world.push('v2', { deploy: 'build: exit 3\n' });
  const { lines } = await stage.fleet('deploy', 'shop', '--max-parallel', '3');
  assert.equal([lines[1]?.status, lines.at(-1)?.not_ordered], ['failed', 2]);
  const resumed = await stage.fleet('resume', String(lines[0]?.rollout));
  assert.equal([resumed.status, resumed.lines[0]?.batches], [1, [['web2'], ['web3']]]);
  assert.is(resumed.lines.at(-1)?.not_ordered, 1);
});

withBroker(
  'a server that an unfinished rollout has not reached is not rolled back',
  async (stage) => {
    await stage.world.push('v3', { deploy: 'build: "true"\n' });
    assert.is((await stage.fleet('deploy', 'shop', '--on', 'web1')).status, 0);
    const { status, stderr, lines } = await stage.fleet('rollback', 'shop');
    assert.equal([status, lines[0]?.error], [1, 'commit_disagrees'], stderr);
    assert.match(
      String(lines[0]?.message),
      /^web1 runs v3, web2 runs v1: use --to with the version/,
    );
    const { lines: all } = await stage.fleet('rollback', 'shop', '--to', 'v1');
    const now = all.slice(1, -1).map(({ status: word, version }) => `${word} ${version}`);
    assert.equal(now, Array(3).fill('rolled_back v1'));
  },
);

test.run();
