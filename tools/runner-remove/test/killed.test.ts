/** `kill -9` of remove before each call that changes a file: the whole app is there, or none. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openToken } from '@runner/common/app-token';
import { pathsOf } from '@runner/common/paths';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditLog, newServer, register, remove, TOKEN } from './server.ts';

/** Loaded into the program: kills it at the call whose number KILL_AT says. */
const HOOK = `const fs = require('node:fs');
const last = Number(process.env.KILL_AT);
delete process.env.NODE_OPTIONS;
let calls = 0;
for (const name of ['openSync', 'writeSync', 'fsyncSync', 'ftruncateSync', 'unlinkSync', 'mkdirSync',
  'rmSync', 'rmdirSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    const isReading = name === 'openSync' && (args[1] === undefined || args[1] === 'r' || (args[1] & 3) === 0);
    const isOutput = name === 'writeSync' && args[0] < 3;
    if (!isReading && !isOutput && ++calls === last) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
`;

test('remove that is killed at any call leaves the whole app or none, and can be repeated', async () => {
  const server = await newServer();
  const hook = join(temporaryFolder('hook'), 'kill.cjs');
  writeFileSync(hook, HOOK);
  const seen = new Set<boolean>();
  let at = 0;
  for (let killed = true; killed; ) {
    at += 1;
    const root = join(temporaryFolder('remove'), 'root');
    cpSync(server.root, root, { recursive: true, verbatimSymlinks: true });
    const env = { NODE_OPTIONS: `--require=${hook}`, KILL_AT: String(at) };
    const ended = await remove(root, ['shop', '--yes'], { env });
    killed = ended.signal === 'SIGKILL';
    assert.ok(killed || ended.status === 0, ended.stderr);
    const there = existsSync(join(root, 'state/shop.json'));
    seen.add(there);
    const token = there ? openToken(pathsOf(root), {}, 'shop')?.reveal() : null;
    assert.is(token, there ? TOKEN : null);
    if (there) {
      // Whole: what it was deployed as is there too.
      const link = readFileSync(join(root, 'apps/shop/instances/default/current/VERSION'), 'utf8');
      assert.is(link, 'v1\n');
    }
    assert.is(auditLog(root), auditLog(server.root));
    const again = await remove(root, ['shop', '--yes']);
    assert.is(again.status, there ? 0 : 1, again.stderr);
    assert.is(
      readFileSync(join(root, 'apps/shop/instances/default/shared/.env'), 'utf8'),
      'KEEP=1\n',
    );
    // What is left does not stand in the way of the same name.
    if (!there && at % 4 === 0) await register(root, 'shop');
  }
  assert.ok(at > 10, `${at} calls`);
  assert.is(seen.size, 2);
  await server.close();
});

test('an app that is added again after a killed removal is deployed as new', async () => {
  const server = await newServer();
  const { root } = server;
  const hook = join(temporaryFolder('hook'), 'kill.cjs');
  writeFileSync(hook, HOOK);
  const path = join(root, 'state/shop.json');
  // The first call after the registration is gone.
  for (let at = 1; existsSync(path); at += 1) {
    const env = { NODE_OPTIONS: `--require=${hook}`, KILL_AT: String(at) };
    const { signal } = await remove(root, ['shop', '--yes'], { env });
    assert.is(signal, 'SIGKILL');
  }
  assert.ok(existsSync(join(root, 'apps/shop/repo.git')));
  await register(root, 'shop');
  const { status, stderr } = await server.deploy();
  assert.is(status, 0, stderr);
  assert.is(await server.page(), 'v1');
  await server.close();
});

test.run();
