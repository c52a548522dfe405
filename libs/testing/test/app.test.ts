import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appFiles, freePort } from '@runner/testing/app';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

async function answers(files: Record<string, string>, paths: string[]) {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const port = await freePort();
  const child = spawn(process.execPath, ['server.js'], {
    cwd: folder,
    env: { PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const over = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const found = [];
  for (const path of paths) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    found.push([response.status, await response.text()]);
  }
  child.kill();
  assert.is(await over, 0);
  return found;
}

test('the app answers with its version and its health', async () => {
  assert.equal(await answers(appFiles('v1'), ['/', '/health']), [
    [200, 'v1\n'],
    [200, 'ok\n'],
  ]);
});

test('an unwell app still answers, and ends when it is asked to', async () => {
  assert.equal(await answers(appFiles('v2', { health: 500 }), ['/', '/health']), [
    [200, 'v2\n'],
    [500, 'not ready: the database does not answer\n'],
  ]);
});

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
