/** Opening the socket of an app for the proxy: the app may replace it at any moment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openSocket } from '@runner/deploy/instances/access';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('the socket of a slot');

/** Exchanges the socket with a link to another file, with renameat2. */
const SWAP = `
my ($socket, $target) = @ARGV;
my ($call, $link) = (\`uname -m\` =~ /x86_64/ ? 316 : 276, "$socket.link");
symlink $target, $link;
$| = 1;
print "ready\\n";
my $end = time + 2;
while (time < $end) { syscall $call, -100, $socket, -100, $link, 2; }
`;

test('a link in place of the socket opens no other file', async () => {
  // A socket's path has 107 bytes at most: TMPDIR may be too long.
  const dir = temporaryFolder('socket', '/tmp');
  const socket = join(dir, 'app.sock');
  const key = join(dir, 'key');
  writeFileSync(key, '', { mode: 0o600 });
  const server = createServer().listen(socket).unref();
  await once(server, 'listening');
  const target = { paths: { dir }, instance: { traffic: { type: 'socket' } }, env: {} };
  const open = () => openSocket(target as unknown as Parameters<typeof openSocket>[0]);
  open();
  assert.is(statSync(socket).mode & 0o777, 0o666);
  const swapping = spawn('perl', ['-e', SWAP, socket, key]);
  await once(swapping.stdout, 'data');
  let refused = 0;
  while (swapping.exitCode === null) {
    try {
      open();
    } catch {
      refused += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.close();
  assert.ok(refused > 0);
  assert.is(statSync(key).mode & 0o777, 0o600);
});

test.run();
