/** The result of a deploy on its commit. */
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { event, makeWorld, send, sha, statuses } from './commit-world.ts';

const test = suite('commit status');

test('GitHub gets one deployment for each deploy, in an environment of the app', async () => {
  const { root, api } = await makeWorld('github');
  await send(root, event('DeployStarted', 1), event('DeploySuccess', 1));
  const made = api.posts.filter(({ path }) => path === '/repos/acme/shop/deployments');
  assert.equal(
    made.map(({ body }) => [body.ref, body.environment, body.description]),
    [[sha(1), 'shop', 'runner debug log shop 00000001']],
  );
  const states = api.posts.filter(({ path }) => /deployments\/\d+\/statuses/.test(path));
  assert.equal(
    states.map(({ body }) => body.state),
    ['in_progress', 'success'],
  );
  await api.close();
});

test('a token that may not write waits in the queue, and nothing is said without the setting', async () => {
  const { root, api } = await makeWorld('gitea');
  api.fail({ status: 403, body: { message: 'no scope' } }, Number.POSITIVE_INFINITY);
  const { status, stderr } = await send(root, event('DeployStarted', 1));
  assert.is(status, 0);
  assert.match(
    stderr,
    /code-host: DeployStarted of shop was not delivered yet, it stays queued: no scope/,
  );
  const queue = await run('runner-notify', ['queue', 'list', '--json'], { root });
  assert.match(queue.stdout, /"channel":"code-host"/);
  api.heal();
  const flushed = await run('runner-notify', ['flush', '--now', '--channel', 'code-host'], {
    root,
  });
  assert.is(flushed.status, 0, flushed.stderr);
  assert.is(statuses(api).length, 1);
  assert.match((await send(root, event('AppDown', 1))).stdout, /"result":"skipped"/);
  await api.close();
});

test('a host that limits requests is left alone until the time it names, else for a minute', async () => {
  const reset = String(Math.floor(Date.now() / 1000) + 590);
  for (const [headers, wait] of [
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, /asks to wait 5\d\d s/],
    [{}, /asks to wait 60 s/],
  ] as const) {
    const { root, api } = await makeWorld('github');
    const body = { message: 'You have exceeded a secondary rate limit.' };
    api.fail({ status: 403, body, headers }, Number.POSITIVE_INFINITY);
    assert.match((await send(root, event('DeployStarted', 1))).stderr, wait);
    await api.close();
  }
});

test('no emoji of an error keeps the failure from its commit on GitHub', async () => {
  const { root, api } = await makeWorld('github');
  const cause = `${'💥 '.repeat(80)}Build failed ✗ 😀`;
  await send(root, event('DeployFailure', 2, { stage: 'build', cause }));
  assert.equal(statuses(api), [[sha(2), 'failure', 'build: Build failed ✗']]);
  await api.close();
});

test('two apps whose long names begin alike have a status each on Bitbucket', async () => {
  const { root, api } = await makeWorld('bitbucket');
  const names = ['a', 'b'].map((end) => `shop-${'x'.repeat(40)}-${end}`);
  for (const name of names) {
    const args = ['--repo', 'here:acme/shop', '--branch', 'main', '--token-from', 'shop'];
    await run('runner-add', [...args, '--name', name], { root });
  }
  const { stdout } = await send(
    root,
    ...names.map((project) => event('DeployFailure', 2, { project })),
  );
  assert.not.match(stdout, 'rejected');
  assert.is(new Set(api.posts.map(({ body }) => body.key)).size, 2);
  await api.close();
});

test.run();
