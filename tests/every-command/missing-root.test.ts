import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = join(temporaryFolder('missing'), 'misspelled');
const page = join(temporaryFolder('page'), 'page.html');

for (const [command, ...args] of [
  ['history'],
  ['fetch', '--deploy'],
  ['stats'],
  ['stats', '--prometheus'],
  ['status', '--prometheus'],
  ['report', '--html', page],
  ['notify', 'queue', 'list'],
  ['notify', 'flush'],
  ['prune'],
  ['pause', '--all'],
  ['resume', '--all'],
] as const)
  test(`${[command, ...args.slice(0, 2)].join(' ').replace(page, 'FILE')}: a root that does not exist is an error, and is not created`, async () => {
    const { status, stdout, stderr } = await run(`runner-${command}`, args, { root });
    assert.equal([status, stdout], [1, '']);
    assert.match(stderr, `: the root ${root} does not exist (file_unreadable)\n`);
    assert.not.ok(existsSync(root) || existsSync(page));
  });

test('the name of a root that does not exist reaches the terminal escaped', async () => {
  const { stdout } = await run('runner-list', [], { root: `${root}\u001b[31m` });
  assert.is(stdout.split(' does')[0], `No apps yet: ${root}\\x1b[31m`);
});

test('start --boot names a root that does not exist, and fails no boot', async () => {
  const { status, stderr } = await run('runner-start', ['--boot'], { root });
  assert.equal([status, stderr], [0, `runner start: the root ${root} does not exist\n`]);
  assert.not.ok(existsSync(root));
});

test.run();
