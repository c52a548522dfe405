/** Units in a backup, on a server whose /etc is a folder of this test. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RECIPIENT } from '@runner/testing/age-key';
import { distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entriesOf } from './entries.ts';

test('the template of a listed instance is saved; a listed unit that is missing is named', async () => {
  const folder = temporaryFolder('units');
  const [root, etc, to] = ['root', 'etc', 'backup.age'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const add = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
  assert.is((await run('runner-add', add, { root })).status, 0);
  const files = {
    'runner/units': 'shop@default-a.service\nshop@default-b.service\nblog.service\ngone.service\n',
    'systemd/system/shop@.service': '[Service]\n',
    'systemd/system/shop@default-a.service.d/limits.conf': '[Service]\n',
    'systemd/system/blog.service': '[Service]\n',
    'systemd/system/other@.service': '[Service]\n',
    passwd: readFileSync('/etc/passwd'),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(etc, path)), { recursive: true });
    writeFileSync(join(etc, path), text);
  }
  const program = join(distFolder(), 'bin/runner-backup');
  const args = [program, '--root', root, '--to', to, '--recipient', RECIPIENT];
  const place = ['--dev-bind', '/', '/', '--bind', etc, '/etc', process.execPath];
  const { status, stderr, error } = spawnSync('bwrap', [...place, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  if (error || /^bwrap: /.test(stderr))
    return void process.stdout.write('(left out: bubblewrap cannot be used here)\n');
  assert.equal(
    [status, stderr],
    [
      0,
      'runner backup: not saved: the unit gone.service: it is not in /etc/systemd/system or /etc/systemd/user\n',
    ],
  );
  const units = (await entriesOf(to)).map(({ path }) => path).filter((path) => /^units/.test(path));
  assert.equal(units.sort(), [
    'units/etc/runner/units',
    'units/etc/systemd/system/blog.service',
    'units/etc/systemd/system/shop@.service',
    'units/etc/systemd/system/shop@default-a.service.d/limits.conf',
  ]);
});

test.run();
