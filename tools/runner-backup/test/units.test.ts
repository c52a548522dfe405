/** Units in a backup, on a server whose /etc is a folder of this test. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IDENTITY, RECIPIENT } from '@runner/testing/age-key';
import { distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entriesOf } from './entries.ts';

test('the template of a listed instance is saved, what a unit links to, and the keys and grants; what is missing or leads elsewhere is named', async () => {
  const folder = temporaryFolder('units');
  const [root, etc, to] = ['root', 'etc', 'backup.age'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const add = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
  assert.is((await run('runner-add', add, { root })).status, 0);
  const files = {
    'runner/units':
      'shop@default-a.service\nshop@default-b.service\nblog.service\nlinked.service\nspy.service\ngone.service\n',
    'runner/enabled': 'runner-fetch.timer\n',
    'runner/mkey': `${'A'.repeat(43)}\n`,
    'runner/approvers.revoked': 'ssh-ed25519 AAAA\n',
    'runner/grants/.lock': '',
    'runner/grants/helper.json': '{}\n',
    'systemd/system/shop@.service': '[Service]\n',
    'systemd/system/shop@default-a.service.d/limits.conf': '[Service]\n',
    'systemd/system/blog.service': '[Service]\n',
    'systemd/system/other@.service': '[Service]\n',
    'elsewhere/linked.service': '[Service]\n',
    passwd: readFileSync('/etc/passwd'),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(etc, path)), { recursive: true });
    writeFileSync(join(etc, path), text);
  }
  symlinkSync('/etc/elsewhere/linked.service', join(etc, 'systemd/system/linked.service'));
  symlinkSync('/etc/passwd', join(etc, 'systemd/system/spy.service'));
  // As doctor reports it of grants.
  const closed = join(etc, 'runner/setup');
  mkdirSync(closed);
  chmodSync(closed, 0);
  const program = join(distFolder(), 'bin/runner-backup');
  const args = [program, '--root', root, '--to', to, '--recipient', RECIPIENT];
  const rights = ['--cap-drop', 'ALL'];
  const place = [...rights, '--dev-bind', '/', '/', '--bind', etc, '/etc', process.execPath];
  const { status, stderr, error } = spawnSync('bwrap', [...place, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  chmodSync(closed, 0o700);
  if (error || /^bwrap: /.test(stderr))
    return void process.stdout.write('(left out: bubblewrap cannot be used here)\n');
  assert.equal(
    [status, stderr],
    [
      0,
      [
        'gone.service: the unit is not in /etc/systemd/system or /etc/systemd/user',
        '/etc/runner/setup: it cannot be read',
        '/etc/systemd/system/spy.service: it is a link, but not to a unit file that can be read',
      ]
        .map((line) => `runner backup: not saved: ${line}\n`)
        .join(''),
    ],
  );
  const entries = await entriesOf(to);
  const units = entries.map(({ path }) => path).filter((path) => /^units/.test(path));
  assert.equal(units.sort(), [
    'units/etc/runner/approvers.revoked',
    'units/etc/runner/grants/helper.json',
    'units/etc/runner/units',
    'units/etc/systemd/system/blog.service',
    'units/etc/systemd/system/linked.service',
    'units/etc/systemd/system/shop@.service',
    'units/etc/systemd/system/shop@default-a.service.d/limits.conf',
  ]);
  const [here, key] = [join(folder, 'here'), join(folder, 'key.txt')];
  mkdirSync(here);
  writeFileSync(key, `${IDENTITY}\n`);
  const restored = await run('runner-restore', [to, '--identity', key], { root: here });
  assert.is(restored.status, 0, restored.stderr);
  // Copied to /etc by root, it can be read by runner's user.
  const { mode } = statSync(join(here, 'restored-units/etc/runner/grants'));
  assert.is(mode & 0o777, 0o755);
});

test.run();
