/** Deploys whose commands run in the sandbox. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from '../deploys/world.ts';

const test = suite('deploys in the sandbox');

test('a build writes its release, the shared files, /tmp and its HOME, and nothing else', async () => {
  const world = await makeWorld();
  const env = { RUNNER_SANDBOX: 'required' };
  const deploy = `build: |
  set -e
  echo built > made; echo kept > $RUNNER_SHARED/kept; echo x > /tmp/x; echo y > ~/y; cat /dev/null
  ! touch ${world.root}/state/x; ! touch ${world.root}/x; ! touch /etc/x; ls -a ${world.root}
  ls -A ${world.root}/apps/shop; ps ax 2>/dev/null || ls /proc
  env | sort
start: { type: none }
`;
  await world.push('v1', { deploy });
  const ended = await world.deploy(['--verbose'], env);
  console.log(ended.stdout, ended.stderr);
  assert.is(ended.status, 0);
  await world.close();
});

test.run();
