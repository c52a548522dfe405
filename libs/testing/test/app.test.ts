import { spawn } from 'node:child_process';
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

test.run();
