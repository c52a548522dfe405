import { spawnSync } from 'node:child_process';
import { freePort } from '@runner/testing/app';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** Reserves a port as another test would, and prints how that ended. */
const RESERVE = `require('node:dgram').createSocket('udp4')
  .on('error', ({ code }) => console.log(code))
  .bind(Number(process.argv[1]), '127.0.0.1', () => process.exit(console.log('reserved')))`;

test('a port stays with the test that got it, also while nothing listens there', async () => {
  const port = await freePort();
  const { stdout } = spawnSync(process.execPath, ['-e', RESERVE, String(port)]);
  assert.is(String(stdout), 'EADDRINUSE\n');
});

test.run();
