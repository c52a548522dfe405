/** The result of a deploy on its commit. */
import { run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { event, makeWorld, send, sha, statuses, TYPES } from './commit-world.ts';

const test = suite('commit status');

for (const type of TYPES) {
  test(`${type}: pending, then success or the first line of the cause; a rollback corrects both`, async () => {
    const { root, api } = await makeWorld(type);
    const cause = `Error: Cannot find module 'express'\n    at require`;
    const { stdout, stderr, status } = await send(
      root,
      event('DeployStarted', 1),
      event('DeploySuccess', 1, { duration_ms: 4000 }),
      event('DeployStarted', 2),
      event('DeployFailure', 2, { stage: 'build', error: 'build: npm test ended with 1', cause }),
      event('RollbackSuccess', 1, { from_version: 'v3', from_commit: sha(3), reason: 'by hand' }),
    );
    assert.is(status, 0, stderr);
    const results = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(
      new Set(results.map(({ channel, result }) => `${channel} ${result}`)),
      new Set(['code-host delivered']),
    );
    const words = {
      github: ['pending', 'success', 'failure'],
      gitlab: ['running', 'success', 'failed'],
      gitea: ['pending', 'success', 'failure'],
      bitbucket: ['INPROGRESS', 'SUCCESSFUL', 'FAILED'],
    }[type];
    const [pending, success, failure] = words;
    assert.equal(statuses(api), [
      [sha(1), pending, 'deploying v1'],
      [sha(1), success, 'deployed v1 in 4.0 s'],
      [sha(2), pending, 'deploying v2'],
      [sha(2), failure, `build: Error: Cannot find module 'express'`],
      [sha(3), failure, 'rolled back to v1: by hand'],
      [sha(1), success, 'v1 is active again'],
    ]);
    await api.close();
  });
}

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

test.run();
