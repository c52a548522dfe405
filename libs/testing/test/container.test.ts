import { bootContainer, whyNoContainer } from '@runner/testing/container';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('container');

const why = whyNoContainer();
if (why !== undefined) process.stderr.write(`skipped: ${why}\n`);
const whenPossible = why === undefined ? test : test.skip;

whenPossible('a system boots, keeps what is written over a restart, and is forgotten', async () => {
  const container = await bootContainer();
  assert.match(await container.ok('ps -o comm= -p 1'), /^systemd$/m);
  await container.ok('echo kept > /srv/mark; test ! -e /run/mark; echo 1 > /run/mark');
  await container.reboot();
  assert.is(await container.ok('cat /srv/mark'), 'kept\n');
  assert.is((await container.sh('test -e /run/mark')).status, 1);
  assert.is(await container.ok('id -un', { user: 'nobody' }), 'nobody\n');
  await container.close();
});

test.run();
