/**
 * {one instance, two} × {kill -9 at each stage of a rollback by hand}: the next command under the lock
 * reports it and leaves a system that agrees with its state.
 */

import { IS_WHOLE } from '@runner/testing/extent';
import { killedAfter, recorded, staged, switched } from '@runner/testing/killing';
import { type Ended, run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { announced, look, makeStage, type Picture, type Stage } from './matrix.ts';
import { deployFile } from './world.ts';

const test = suite('rollbacks that are killed');

const rollback = ({ world }: Stage, env: Record<string, string> = {}): Promise<Ended> =>
  run('runner-rollback', ['shop'], { root: world.root, env });

/** v1, then v2, which runs. */
async function twoVersions(): Promise<Stage> {
  const stage = await makeStage('second');
  await stage.world.push('v2', { deploy: announced(stage.world) });
  await stage.world.deploy();
  await stage.world.git.deleteBranch('acme/shop', 'main');
  return { ...stage, before: stage.world.events().length };
}

async function close({ world, chat }: Stage): Promise<void> {
  await world.close();
  await chat.close();
}

const as = (version: string, events: readonly string[]): Picture => ({
  page: version,
  current: version,
  state: version,
  deploying: null,
  failures: 0,
  events: [...events],
  messages: [...events],
  left: [],
});

/** A rollback that is killed at a moment, and the stage that the next command names. */
type Kill = readonly [when: string, moment: string, stage: string];

function killTests(kills: readonly Kill[]): void {
  for (const [when, moment, stageName] of kills) {
    test(`killed ${when}, the version that was active is active again, and that is reported`, async () => {
      const stage = await twoVersions();
      const { world } = stage;
      const killed = await rollback(stage, killedAfter(moment));
      assert.is(killed.signal, 'SIGKILL', killed.stderr);
      const shown = await run('runner-status', ['shop'], { root: world.root });
      assert.match(shown.stdout, /state: +interrupted\n/);
      const next = await world.deploy();
      assert.match(
        next.stderr,
        new RegExp(`rollback [0-9a-f]{8} was interrupted during ${stageName}: cleaning up`),
      );
      assert.equal(await look(stage), as('v2', ['DeployFailure']));
      const failure = world.events().at(-1);
      assert.equal(
        [failure?.error, failure?.version, failure?.previous_version],
        [`rollback interrupted during ${stageName}`, 'v1', 'v2'],
      );
      assert.is(world.state().held, null);
      await close(stage);
    });
  }
}

killTests([['after it switched', switched(), 'switch']]);

test('killed after its success was recorded, it is a success: the commit that was left is held', async () => {
  const stage = await twoVersions();
  const { world } = stage;
  const killed = await rollback(stage, killedAfter(recorded('RollbackSuccess')));
  assert.is(killed.signal, 'SIGKILL', killed.stderr);
  await world.deploy();
  assert.equal(await look(stage), as('v1', ['RollbackSuccess']));
  assert.is((world.state().held as { reason: string }).reason, 'v2 was rolled back by hand');
  await close(stage);
});

test('killed between two instances, both match the state', async () => {
  const stage = await makeStage('first');
  const { world } = stage;
  const two = 'instances: { eu: {}, us: {} }\nstart: { type: command, run: "true" }\n';
  for (const version of ['v1', 'v2']) {
    await world.launch(version, { deploy: two });
  }
  await world.git.deleteBranch('acme/shop', 'main');
  const killed = await rollback(stage, killedAfter(switched(2)));
  assert.is(killed.signal, 'SIGKILL', killed.stderr);
  await world.deploy();
  const shown = await run('runner-status', ['shop', '--json'], { root: world.root });
  const { instances, deploying } = JSON.parse(shown.stdout);
  assert.is(deploying, null);
  const { readFileSync } = await import('node:fs');
  for (const { instance, current } of instances) {
    const file = `${world.root}/apps/shop/instances/${instance}/current/VERSION`;
    assert.equal([instance, current.version, readFileSync(file, 'utf8')], [instance, 'v2', 'v2\n']);
  }
  await close(stage);
});

test('a killed deploy with --no-notify, or of an app that wants no messages, is recovered in silence', async () => {
  for (const [args, silent] of [
    [['--no-notify'], false],
    [[], true],
  ] as const) {
    const stage = await makeStage('first');
    const { world, chat } = stage;
    const deploy = silent ? deployFile(world.port) : announced(world);
    await world.push('v1', { deploy });
    await world.deploy(args, killedAfter(staged('switch')));
    await world.push('v2', { deploy });
    assert.is((await world.deploy(['--no-notify'])).status, 0);
    assert.ok(world.kinds().includes('DeployFailure'));
    assert.equal(chat.messages, []);
    await close(stage);
  }
});

if (IS_WHOLE) {
  killTests([
    ['before it switches', staged('switch'), 'switch'],
    ['while it starts', staged('start'), 'start'],
    ['while it waits for health', staged('health'), 'health'],
  ]);

  test('after a kill while a version that does not start is rolled back, the next command completes it', async () => {
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
      await world.launch(version, { deploy });
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
      await world.launch(version, { deploy: 'instances: { eu: {}, us: {} }\n' });
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
}

test.run();
