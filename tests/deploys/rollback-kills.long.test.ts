import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { killedAfter, recorded, staged, switched } from './faults.ts';
import { announced, look, makeStage } from './matrix.ts';
import { as, close, killTests, rollback } from './rollback-kills.ts';

const test = suite('rollbacks that are killed at other moments');

killTests(test, [
  ['before it switches', staged('switch'), 'switch'],
  ['while it starts', staged('start'), 'start'],
  ['while it waits for health', staged('health'), 'health'],
]);

test('killed on its way back from a version that does not start, the next command goes all the way', async () => {
  const stage = await makeStage('second');
  const { world } = stage;
  // v1 starts only as long as this file is not there.
  const broken = `${world.root}/broken`;
  const run_ = `test ! -e '${broken}' && exec node server.js`;
  for (const version of ['v1b', 'v2']) {
    const deploy = announced(world).replace(
      'exec node server.js',
      version === 'v1b' ? run_ : 'exec node server.js',
    );
    await world.push(version, { deploy });
    assert.is((await world.deploy()).status, 0);
  }
  await world.git.deleteBranch('acme/shop', 'main');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(broken, '');
  const from = { ...stage, before: world.events().length };
  const killed = await rollback(from, killedAfter(switched(2)));
  assert.is(killed.signal, 'SIGKILL', killed.stderr);
  assert.is(await world.page(), null);
  await world.deploy();
  assert.equal(await look(from), as('v2', ['DeployFailure']));
  const error = String(world.events().at(-1)?.error);
  assert.match(error, /^rollback interrupted during rollback\n(start|health): /);
  await close(stage);
});

test('killed while its events are recorded, each instance has its own in the end', async () => {
  const stage = await makeStage('first');
  const { world } = stage;
  for (const version of ['v1', 'v2']) {
    await world.push(version, { deploy: 'instances: { eu: {}, us: {} }\n' });
    assert.is((await world.deploy()).status, 0);
  }
  await world.git.deleteBranch('acme/shop', 'main');
  await rollback(stage, killedAfter(recorded('RollbackSuccess')));
  await world.deploy();
  const back = world.events().filter((event) => event.event_type === 'RollbackSuccess');
  assert.equal(
    back.map((event) => [event.instance, event.version, event.from_version]),
    [
      ['eu', 'v1', 'v2'],
      ['us', 'v1', 'v2'],
    ],
  );
  await close(stage);
});

test.run();
