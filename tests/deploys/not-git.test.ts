/** A host that answers, but not as a git server does: a wrong address, a proxy's page, a login. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloading } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
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

test('git and flock that cannot be started are not called missing', async ({ world }) => {
  const folder = temporaryFolder('path');
  for (const name of ['flock', 'preload.js']) writeFileSync(join(folder, name), '');
  symlinkSync(process.execPath, join(folder, 'node'));
  const noFlock = await world.deploy([], { PATH: folder });
  assert.is(noFlock.status, 1);
  assert.match(noFlock.stderr, /: flock cannot start: permission denied \(lock_unavailable\)\n$/);
  // As if the user had too many processes, but for the reason.
  const preload = `const child = require('node:child_process');
const { spawn } = child;
child.spawn = (file, ...rest) => spawn(file === '/bin/sh' ? __filename : file, ...rest);`;
  writeFileSync(join(folder, 'preload.js'), preload);
  const noGit = await world.deploy([], preloading(join(folder, 'preload.js')));
  assert.is(noGit.status, 1);
  assert.match(noGit.stderr, /: cannot start git: permission denied \(git_failed\)\n$/);
});

test.run();
