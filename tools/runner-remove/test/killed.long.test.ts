/** `kill -9` of remove before each call that changes a file: the whole app is there, or none. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { openToken } from '@runner/common/tokens/open';
import { killedAtCall } from '@runner/testing/killing';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditLog, newServer, register, remove, TOKEN } from './server.ts';

test('remove that is killed at any call leaves the whole app or none, and can be repeated', async () => {
  const server = await newServer();
  const seen = new Set<boolean>();
  let at = 0;
  for (let killed = true; killed; ) {
    at += 1;
    const root = join(temporaryFolder('remove'), 'root');
    cpSync(server.root, root, { recursive: true, verbatimSymlinks: true });
    killed = await killedAtCall('runner-remove', ['shop', '--yes'], at, { root });
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
  const path = join(root, 'state/shop.json');
  // The first call after the registration is gone.
  for (let at = 1; existsSync(path); at += 1) {
    assert.ok(await killedAtCall('runner-remove', ['shop', '--yes'], at, { root }));
  }
  assert.ok(existsSync(join(root, 'apps/shop/repo.git')));
  await register(root, 'shop');
  const { status, stderr } = await server.deploy();
  assert.is(status, 0, stderr);
  assert.is(await server.page(), 'v1');
  await server.close();
});

test.run();
