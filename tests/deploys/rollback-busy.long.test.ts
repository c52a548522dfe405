import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { worldSuite } from './world.ts';

const test = worldSuite('rollback busy');

test('while another process keeps the registry a rollback is refused with 75, and nothing is changed', async ({
  world,
}) => {
  for (const version of ['v1', 'v2']) {
    await world.launch(version);
  }
  const before = world.state();
  const lock = join(world.root, 'locks/registry.lock');
  const holder = spawn('flock', ['-x', lock, '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  try {
    const { status, stderr } = await run('runner-rollback', ['shop'], {
      root: world.root,
      timeout: 100_000,
    });
    assert.is(status, 75, stderr);
    assert.match(stderr, /^runner rollback: the registry is busy(: held by .*)? \(locked\)\n$/);
    assert.equal(world.state(), before);
    assert.equal(world.kinds().slice(-1), ['DeploySuccess']);
    assert.is(await world.page(), 'v2');
  } finally {
    holder.stdin.end();
    await once(holder, 'close');
  }
  assert.is((await run('runner-rollback', ['shop'], { root: world.root })).status, 0);
});

test.run();
