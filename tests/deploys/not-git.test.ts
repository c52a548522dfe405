/** A host that answers, but not as a git server does: a wrong address, a proxy's page, a login. */
import * as assert from 'uvu/assert';
import { REPO, worldSuite } from './world.ts';

const test = worldSuite('not git');

test('a repository without the branch is reported, empty or not', async ({ world }) => {
  const sentence = `the repository ${REPO} has no branch 'main'; run: runner edit shop --branch <BRANCH> (branch_not_found)\n`;
  const empty = await world.deploy();
  assert.equal([empty.status, empty.stderr.endsWith(sentence)], [1, true], empty.stderr);
  await world.push('v1');
  await world.git.commit(REPO, { a: 'b' }, 'next', { branch: 'next' });
  await world.git.deleteBranch(REPO, 'main');
  const gone = await world.deploy();
  assert.equal([gone.status, gone.stderr.endsWith(sentence)], [1, true], gone.stderr);
});

test.run();
