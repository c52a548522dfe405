/** Root in the root of another user: every command leaves it as it is, and runs nothing that was planted there. */
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { RECIPIENT } from '@runner/testing/age-key';
import { asNobody, run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { foreign, OTHER, test } from './foreign-root.ts';

test('the command to type repeats the app and the flags, and no value', async () => {
  const root = temporaryFolder('foreign');
  chownSync(root, OTHER, OTHER);
  const told = async (tool: string, ...args: string[]) =>
    (await run(tool, args, { root })).stderr.replace(/^.*; run: /s, '');
  const owner = `sudo -u '#${OTHER}' runner`;
  const end = `--root ${word(root)} (guard_tripped)\n`;
  assert.is(await told('runner-deploy', 'shop', '--check'), `${owner} deploy shop --check ${end}`);
  assert.is(await told('runner-fetch', '--deploy'), `${owner} fetch --deploy ${end}`);
  const token = ['--token', 'ghx_abcdefghijkl'];
  assert.is(await told('runner-edit', 'shop', ...token), `${owner} edit shop ${end}`);
  rmSync(root, { recursive: true });
});

test('what the owner of a root may not read or write is said, with what to type', async () => {
  const parent = temporaryFolder('denied', '/tmp');
  chmodSync(parent, 0o755);
  const root = join(parent, 'r');
  mkdirSync(root);
  chownSync(root, 65_534, 65_534);
  const as = async (tool: string, args: string) =>
    (await shell(`${asNobody(tool)} ${args}`, { root })).stderr;
  const age = join(parent, 'b.age');
  const backup = await as('runner-backup', `--to ${age} --recipient ${RECIPIENT}`);
  assert.match(backup, `permission denied; as user 65534: use --to -, and add > ${age} (`);
  writeFileSync(age, '', { mode: 0o600 });
  const restore = await as('runner-restore', `${age} --identity /dev/null`);
  assert.match(restore, `denied; as user 65534: use - instead of the file, and add < ${age} (`);
  const config = join(root, 'config.yml');
  writeFileSync(config, '', { mode: 0o600 });
  assert.is(
    await as('runner-notify', 'test'),
    `runner notify test: cannot read ${config}: permission denied: it belongs to user 0: run sudo chown --reference=${root} ${config} (file_unreadable)\n`,
  );
});

foreign.run();
