/** Files of another user, and a root that others may write, lead no token and no command anywhere. */
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytes, startRawHost } from './raw-host.ts';

const STRANGER = 54_321;
const COMMANDS = [
  ['runner-tokens', 'test', 'shop'],
  ['runner-deploy', 'shop'],
  ['runner-deploy', 'shop', '--check'],
  ['runner-fetch', '--deploy'],
  ['runner-doctor'],
] as const;

async function rootOf(port: number): Promise<string> {
  const root = join(temporaryFolder('foreign'), 'root');
  mkdirSync(root);
  const host = `http://127.0.0.1:${port}`;
  const config = `code_host_api_url: ${host}\ncode_host_git_url: ${host}\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  const added = await run('runner-add', args, {
    root,
    stdin: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  });
  assert.is(added.status, 0, added.stderr);
  return root;
}

for (const file of ['config.yml', 'mkey', 'state/shop.json']) {
  test(`${file} of another user is refused with the command that fixes it, and nothing is asked`, async () => {
    if (process.geteuid?.() !== 0) return;
    const host = await startRawHost(bytes('HTTP/1.1 200 OK\r\n\r\n{}'));
    const root = await rootOf(host.port);
    chownSync(join(root, file), STRANGER, STRANGER);
    for (const [tool, ...args] of COMMANDS) {
      const done = await run(tool, args, { root });
      const said = done.stdout + done.stderr;
      assert.is(done.status, 1, `${tool}: ${said}`);
      assert.ok(
        said.includes(`${join(root, file)} belongs to another user (uid ${STRANGER})`),
        `${tool}: ${said}`,
      );
      assert.ok(said.includes(`chown root ${word(join(root, file))}`), `${tool}: ${said}`);
    }
    assert.is(host.received(), '');
    await host.close();
  });
}

test('a root that others can write is refused, with the fixing command', async () => {
  const host = await startRawHost(bytes('HTTP/1.1 200 OK\r\n\r\n{}'));
  const root = await rootOf(host.port);
  chmodSync(root, 0o2775);
  for (const [tool, ...args] of COMMANDS) {
    const done = await run(tool, args, { root });
    const said = done.stdout + done.stderr;
    assert.is(done.status, 1, said);
    assert.ok(said.includes(`chmod go-w ${word(root)}`), `${tool}: ${said}`);
  }
  assert.is(host.received(), '');
  await host.close();
});

test('whatever the umask of the caller is, no one else can write what runner makes', async () => {
  const before = process.umask(0);
  try {
    const root = join(temporaryFolder('umask'), 'root');
    const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
    assert.is(
      (await run('runner-add', args, { root, stdin: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' }))
        .status,
      0,
    );
    for (const name of ['', 'state', 'locks', 'mkey']) {
      const path = join(root, name);
      if (existsSync(path)) assert.is(statSync(path).mode & 0o022, 0, path);
    }
  } finally {
    process.umask(before);
  }
});

test.run();
