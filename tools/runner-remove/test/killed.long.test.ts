/** `kill -9` of remove before each call that changes a file: the whole app is there, or none. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { openToken } from '@runner/common/tokens/open';
import { isKilled, killAtEachCall } from '@runner/testing/killing';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditLog, newServer, register, remove, TOKEN } from './server.ts';

const REMOVE = { tool: 'runner-remove', args: ['shop', '--yes'] };

test('remove that is killed at any call leaves the whole app or none, and can be repeated', async () => {
  const server = await newServer();
  const seen = new Set<boolean>();
  const calls = await killAtEachCall(async (call) => {
    const root = join(temporaryFolder('remove'), 'root');
    cpSync(server.root, root, { recursive: true, verbatimSymlinks: true });
    const killed = await isKilled(REMOVE, { call }, root);
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
    if (!there && call % 4 === 0) await register(root, 'shop');
    return killed;
  });
  assert.ok(calls > 10, `${calls} calls`);
  assert.is(seen.size, 2);
  await server.close();
});

test('an app that is added again after a killed removal is deployed as new', async () => {
  const server = await newServer();
  const { root } = server;
  const path = join(root, 'state/shop.json');
  // The first call after the registration is gone.
  for (let call = 1; existsSync(path); call += 1) assert.ok(await isKilled(REMOVE, { call }, root));
  assert.ok(existsSync(join(root, 'apps/shop/repo.git')));
  await register(root, 'shop');
  const { status, stderr } = await server.deploy();
  assert.is(status, 0, stderr);
  assert.is(await server.page(), 'v1');
  await server.close();
});

test.run();
