/** What of the process that deploys does not reach the programs of a repository. */
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { worldSuite } from './world.ts';

const test = worldSuite('cut off');

test('a build has no descriptor of the caller and dumps no core; the mirror is not writable by a group', async ({
  world,
}) => {
  const build = 'ls /proc/self/fd | tr "\\n" " " > made; ulimit -c >> made; umask >> made';
  await world.push('v1', { deploy: `build: '${build}'\n` });
  const fd = openSync('/etc/passwd', 'r');
  const before = process.umask(0o002);
  try {
    const fds = { 9: fd, 120: fd, 251: fd };
    const done = await run('runner-deploy', ['shop'], { root: world.root, fds });
    assert.is(done.status, 0, done.stderr);
  } finally {
    process.umask(before);
    closeSync(fd);
  }
  const current = join(world.root, 'apps/shop/instances/default/current');
  const [fds = '', cores, umask] = readFileSync(join(current, 'made'), 'utf8').split('\n');
  const [open = '', size] = [
    fds.slice(0, fds.lastIndexOf(' ')),
    fds.slice(fds.lastIndexOf(' ') + 1),
  ];
  assert.equal([open.replace(/ 3$/, ''), size, cores], ['0 1 2', '0', '0022'], `${umask}`);
  for (const name of ['', 'config', 'refs', 'objects'])
    assert.is(statSync(join(world.root, 'apps/shop/repo.git', name)).mode & 0o022, 0, name);
});

/** What each kind of command has open, but for what `ls` itself opens. */
const OPEN = "ls /proc/self/fd | tr '\\n' ' '";

test('nothing that an app decides has a descriptor of the caller: hooks, health, start, stop and exec', async ({
  world,
}) => {
  const into = (name: string) => `${OPEN} > $RUNNER_SHARED/${name}`;
  await world.push('v1', {
    deploy: `hooks: { pre_switch: "${into('hook')}" }
start: { type: process, run: "${into('start')}; exec sleep 1000" }
health: { cmd: "${into('health')}" }
`,
  });
  const fd = openSync('/etc/passwd', 'r');
  const options = { root: world.root, fds: { 9: fd, 251: fd } };
  const done = await run('runner-deploy', ['shop'], options);
  assert.is(done.status, 0, done.stderr);
  const shown = await run('runner-exec', ['shop', '--', 'sh', '-c', OPEN], options);
  assert.is(shown.status, 0, shown.stderr);
  closeSync(fd);
  const shared = join(world.root, 'apps/shop/instances/default/shared');
  for (const name of ['hook', 'start', 'health'])
    assert.match(readFileSync(join(shared, name), 'utf8'), /^0 1 2 (3 )?$/, name);
  assert.match(shown.stdout, /^0 1 2 (3 )?$/);
});

test.run();
