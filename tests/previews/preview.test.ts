import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePreviewWorld } from './world.ts';

test('a pull request gets a preview with one comment, follows its pushes, and is gone once it is closed', async () => {
  const world = await makePreviewWorld();
  const { api } = world;
  await world.open(7, { page: 'first' });
  const made = await world.sync();
  assert.is(made.status, 0, made.stdout + made.stderr);
  assert.is(await world.page('pr-7'), 'first', made.stdout + made.stderr);
  assert.match(
    api.pulls.comments[0]?.text ?? '',
    /is ready: https:\/\/pr-7\.preview\.example\.org$/,
  );
  assert.is(api.pulls.deployments[0]?.state, 'success');

  await world.push(7, 'bad', { more: 'build: "false"\n' });
  const failed = await world.sync();
  const words = 'shop: shop--pr-7 failed; see: runner why shop--pr-7\n';
  assert.equal([failed.status, failed.stdout], [1, words]);
  const still = await world.sync();
  assert.equal([still.status, still.stdout], [0, words]);

  await world.push(7, 'second');
  const before = api.requests.length;
  assert.is((await world.sync()).status, 0);
  const written = api.requests.slice(before).filter(({ method }) => method !== 'GET');
  const statuses = written.filter(({ path }) => path.endsWith('/statuses'));
  assert.is(statuses.length, 2, 'the deployment of the push before last is inactive already');
  assert.is(await world.page('pr-7'), 'second');
  assert.is(api.pulls.comments.length, 1);
  assert.equal(
    api.pulls.deployments.map(({ state }) => state),
    ['inactive', 'inactive', 'success'],
  );
  const listed = await world.runner('list');
  assert.not.match(listed.stdout, /shop--pr-7/);

  world.close(7);
  const gone = await world.sync();
  assert.is(gone.status, 0, gone.stderr);
  assert.equal(world.processes(), []);
  assert.is(await world.page('pr-7'), null);
  assert.match(api.pulls.comments[0]?.text ?? '', /was removed: is closed$/);
  assert.equal(
    api.pulls.deployments.map(({ state }) => state),
    ['inactive', 'inactive', 'inactive'],
  );
  assert.is(await world.page('pr-7'), null);
  const back = await world.runner('preview', 'undo', 'shop', '7');
  assert.is(back.status, 0, back.stderr);
  assert.is(await world.page('pr-7'), 'second');
  await world.sync();
  assert.is(await world.page('pr-7'), 'second');
  const disabled = await world.runner('preview', 'disable', 'shop', '--purge');
  assert.is(disabled.status, 0, disabled.stderr);
  assert.equal(world.processes(), []);
  assert.is(world.state('shop--pr-7'), undefined);

  await world.commit('main', 'unit', 'start: { type: command, run: "true" }\n', true);
  assert.is((await world.runner('deploy', 'shop')).status, 0);
  const lacking = await world.runner('preview', 'enable', 'shop', '--domain', '{n}.p.example.org');
  assert.equal(
    [lacking.status, lacking.stderr],
    [
      0,
      'runner preview enable: shop as it is now has no previews: .deploy.yml: preview.run: a preview needs it with start.type command\n',
    ],
  );
  await world.end();
});

test.run();
