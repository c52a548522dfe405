/** A broker that no longer answers: Ctrl-C ends the command, and what it says of the orders is true. */
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { start } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lines, makeStage, type Stage } from './stage.ts';
import { steal, type Thief } from './stolen.ts';

interface Scene extends Stage {
  /** Answers pings for web1. */
  answering: Thief;
}
const test = suite<Scene>('stalled broker');
const withBroker = whenBroker(test);

test.before(async (scene) => {
  if (!hasBroker()) return;
  Object.assign(scene, await makeStage(['web1']));
  scene.answering = await steal(scene.broker.url, 'web1', scene.roots.web1 as string);
  scene.answering.reply(() => ({}));
});
test.after(async ({ answering, broker, close }) => {
  if (broker) process.kill(broker.pid(), 'SIGCONT');
  await answering?.close();
  await close?.();
});

withBroker('Ctrl-C ends a command while the broker stalls', async ({ operator, broker }) => {
  const args = ['hold', 'shop', '--on', 'web1', '--json'];
  const holding = start('runner-fleet', args, { root: operator.root });
  const plan = await holding.stdout[Symbol.asyncIterator]().next();
  process.kill(broker.pid(), 'SIGSTOP');
  assert.match(String(plan.value), /"rollout":"r-/);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const began = performance.now();
  holding.kill('SIGINT');
  const { status, stdout } = await holding.done;
  process.kill(broker.pid(), 'SIGCONT');
  const took = performance.now() - began;
  assert.ok(took < 5_000, `it took ${took} ms`);
  const end = lines(stdout).at(-1);
  // It may have arrived: whether it was ordered is not known.
  assert.equal(
    [status, end?.result, end?.no_answer, end?.not_ordered],
    [130, 'interrupted', 1, 0],
    stdout,
  );
});

test.run();
