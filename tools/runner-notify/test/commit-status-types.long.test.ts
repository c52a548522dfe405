/** The result of a deploy on its commit. */
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

test.run();
