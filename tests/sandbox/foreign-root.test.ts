/** Root in the root of another user: every command leaves it as it is, and runs nothing that was planted there. */

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { word } from '@runner/common/text/shell';
import { IDENTITY, RECIPIENT } from '@runner/testing/age-key';
import { asNobody, run, shell } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { foreign, OTHER, test } from './foreign-root.ts';

test('the command to type repeats what was typed, without secrets', async () => {
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
  const odd = ['set', 'shop', 'A', '--file', "it's here"];
  assert.is(
    await told('runner-env', ...odd),
    `${owner} env set shop A --file 'it'\\''s here' ${end}`,
  );
  assert.is(
    await told('runner-exec', 'shop', '--', 'sh', '-c', 'id; ls'),
    `${owner} exec shop sh --root ${word(root)} -- -c 'id; ls' (guard_tripped)\n`,
  );
  assert.is(await told('runner-agent', 'init', 'web1'), `${owner} agent init web1 ${end}`);
  rmSync(root, { recursive: true });
});

test('a backup that is restored below the folder of another user is restored with the line to type', async () => {
  const parent = temporaryFolder('foreign', '/tmp');
  const [age, key, root] = ['b.age', 'key.txt', 'r'].map((name) => join(parent, name)) as [
    string,
    string,
    string,
  ];
  const made = temporaryFolder('made');
  assert.is(
    (await run('runner-backup', ['--to', age, '--recipient', RECIPIENT], { root: made })).status,
    0,
  );
  writeFileSync(key, IDENTITY);
  assert.is(spawnSync('chown', ['-R', String(OTHER), parent]).status, 0);
  const { status, stderr } = await run('runner-restore', [age, '--identity', key], { root });
  assert.is(status, 1);
  const line = `sudo -u '#${OTHER}' runner restore ${age} --identity ${key} --root ${root}`;
  assert.match(stderr, `; run: ${line} (guard_tripped)\n`);
});

test('a bypass of guards that only the owner could record is refused, and leaves no folder', async () => {
  const root = temporaryFolder('foreign');
  const add = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
  assert.is((await run('runner-add', add, { root })).status, 0);
  assert.is(spawnSync('chown', ['-R', String(OTHER), root]).status, 0);
  const before = tree(root);
  const asked = await run('runner-debug', ['last-error', 'shop', '--insecure'], { root });
  assert.equal([asked.status, asked.stdout], [1, '']);
  assert.match(
    asked.stderr,
    `--insecure is refused because it cannot be recorded: cannot append to the audit log ${join(root, 'logs/deploy-events.jsonl')}: only user ${OTHER} may make ${join(root, 'logs')} (audit_unwritable)`,
  );
  const isLock = ([path]: [string, unknown]) => path.endsWith('.audit.lock') || path === 'locks';
  const rest = (all: object) => Object.entries(all).filter((each) => !isLock(each));
  assert.equal(rest(tree(root)), rest(before));
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
