import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { watchProcesses } from '@runner/testing/proc-watch';
import { run } from '@runner/testing/run';
import { findBytes } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { deployFile, TOKEN, worldSuite } from './world.ts';

const test = worldSuite('secrets');

test('during a deploy the token is in no argument and no environment of any process', async ({
  world,
}) => {
  await world.push('v1', {
    deploy: deployFile(world.port, 'build: "sleep 1; env; ls -l /proc/self/fd"'),
  });
  const { value, sightings, rounds } = await watchProcesses([TOKEN], () => world.deploy());
  assert.is(value.status, 0, value.stderr);
  assert.ok(rounds > 10);
  assert.equal(sightings, []);
  assert.equal(findBytes(world.root, TOKEN), []);
});

test('a build inherits no descriptor of the runner, so no lock and no token', async ({ world }) => {
  await world.launch('v1', { deploy: deployFile(world.port, 'build: "ls /proc/self/fd > fds"') });
  const { stdout } = spawnSync(
    'cat',
    [join(world.root, 'apps/shop/instances/default/current/fds')],
    { encoding: 'utf8' },
  );
  // The last is that of the listing.
  assert.is(stdout, '0\n1\n2\n3\n');
});

test('a .deploy.yml that is a folder is refused, not ignored', async ({ world }) => {
  await world.git.commit('acme/shop', { '.deploy.yml/x': 'keep: 1\n' }, 'folder');
  assert.is((await world.deploy()).status, 1);
  assert.match(
    String(world.events().at(-1)?.error),
    /^config: \.deploy\.yml is not a regular file in this commit$/,
  );
});

test('a value that was replaced or unset stays redacted in what the app printed before', async ({
  world,
}) => {
  const { root, port } = world;
  const env = (args: string[], stdin = '') => run('runner-env', args, { root, stdin });
  const set = (value: string) => env(['set', 'shop', 'SESSION_KEY', '--file', '-'], value);
  assert.is((await set('s3cretvalue99999')).status, 0);
  const prints = deployFile(port).replace('exec node', 'echo "key=$SESSION_KEY"; exec node');
  await world.launch('v1', { deploy: prints });
  for (const change of [
    () => set('s3cretvalue77777'),
    () => env(['unset', 'shop', 'SESSION_KEY']),
  ]) {
    assert.is((await change()).status, 0);
    const { stdout } = await run('runner-logs', ['shop'], { root });
    assert.match(stdout, 'key=[REDACTED]');
  }
});

test.run();
