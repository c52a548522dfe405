/** Removing previews while their code host does not answer, or their requests are held. */
import { start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePreviewWorld } from './world.ts';

test('what could not be taken back on the code host is taken back later, and remove waits for it', async () => {
  const world = await makePreviewWorld();
  for (const number of [1, 2]) await world.open(number);
  await world.sync();
  const tokens = [...world.api.tokens];
  world.api.tokens.clear();
  const disabled = await world.runner('preview', 'disable', 'shop');
  assert.is(disabled.status, 1);
  assert.match(disabled.stderr, /not all previews are gone.* shop--pr-1: .* shop--pr-2: /);
  assert.equal(world.processes(), []);
  const refused = await world.runner('remove', 'shop', '--yes');
  assert.is(refused.status, 1);
  for (const [token, login] of tokens) world.api.tokens.set(token, login);
  const removed = await world.runner('remove', 'shop', '--yes');
  assert.is(removed.status, 0, removed.stderr);
  for (const { text } of world.api.pulls.comments) assert.match(text, /removed/);
  await world.end();
});

test('a removed preview holds no requests', async () => {
  const world = await makePreviewWorld();
  await world.open(1);
  const made = await world.sync();
  assert.match(made.stderr, /shop--pr-1: ready at /, made.stdout + made.stderr);
  const held = await world.runner('hold-traffic', 'shop--pr-1', '--for', '1h');
  assert.is(held.status, 0, held.stderr);
  assert.is((await world.runner('preview', 'remove', 'shop', '1')).status, 0);
  const { stdout } = await world.runner('status', 'shop--pr-1', '--json');
  assert.is(JSON.parse(stdout).traffic_hold, null);
  assert.is((await world.runner('preview', 'undo', 'shop', '1')).status, 0);
  assert.match(String(await world.page('pr-1')), /./);
  await world.end();
});

test('a preview whose undo was killed is removed again, or brought back by the next undo', async () => {
  const world = await makePreviewWorld();
  await world.open(1);
  await world.sync();
  world.close(1);
  await world.sync();
  const killUndo = async () => {
    const undo = start('runner-preview', ['undo', 'shop', '1'], { root: world.root });
    await until(() => world.state('shop--pr-1')?.deploying, 'it does not deploy');
    undo.kill('SIGKILL');
    await undo.done;
  };
  await killUndo();
  const synced = await world.sync();
  assert.match(synced.stderr, /shop--pr-1: removed: is closed/, synced.stdout + synced.stderr);
  assert.equal(world.processes(), []);
  await killUndo();
  const back = await world.runner('preview', 'undo', 'shop', '1');
  assert.is(back.status, 0, back.stderr);
  await world.sync();
  await world.answers('pr-1', 'pr 1');
  await world.end();
});

test.run();
