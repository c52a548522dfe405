/** What the doctor says as a whole, and about folders, keys and config.yml. */
import { chmodSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { asNobody, checkoutFolder, run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, fixed, programs, put, registered } from './patient.ts';

test('an empty root has warnings alone, and stays empty', async () => {
  const folder = temporaryFolder('doctor');
  const root = join(folder, 'root');
  const { status, troubles } = await examined(root);
  assert.is(status, 0);
  assert.equal(troubles, [
    `warning folders: ${root} does not exist yet: adding the first app creates it`,
  ]);
  assert.equal((await examined(folder)).troubles, []);
  assert.equal(tree(folder), {});
});

test('a root that this user cannot create is a problem, with a root that they can', async () => {
  if (process.getuid?.() !== 0) return;
  const folder = temporaryFolder('doctor');
  chmodSync(folder, 0o755);
  const root = join(folder, 'root');
  const { status, stdout } = await shell(`${asNobody('runner-doctor')} --json`, { root });
  assert.is(status, 1);
  const { findings } = JSON.parse(stdout) as { findings: Record<string, string>[] };
  const { message, fix } = findings.find(({ check }) => check === 'folders') ?? {};
  assert.equal([message, fix], [`you may not create ${root}`, 'export RUNNER_ROOT=~/runner']);
});

test('where nothing more can be opened, a check says that, and not that a program is missing', async () => {
  const root = await registered();
  const seen: string[] = [];
  // How many files Node itself opens depends on its version.
  for (const limit of [21, 22, 23, 24]) {
    const line = `ulimit -n ${limit}; exec runner-doctor --offline`;
    const { stdout, stderr } = await shell(line, { root });
    assert.not.match(stderr, /this is a bug|setEncoding/);
    assert.not.match(stdout, /is missing or does not run/);
    seen.push(stdout);
  }
  assert.match(seen.join(''), /problem {2}programs {2}cannot start git: too many open files/);
});

test('a new registration is in order, and is not changed', async () => {
  const root = await registered();
  const before = tree(root, { modes: true });
  assert.equal((await examined(root)).troubles, []);
  assert.equal(tree(root, { modes: true }), before);
});

test('docs/commands.md has a row for every check of doctor, and no other', async () => {
  const page = readFileSync(join(checkoutFolder(), 'docs/commands.md'), 'utf8');
  const section = page.split('\n## runner doctor\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, check]) => check);
  const root = temporaryFolder('doctor');
  const { stdout } = await run('runner-doctor', ['--offline', '--json'], { root });
  const { findings, skipped } = JSON.parse(stdout);
  const checks = new Set([...findings.map(({ check }: { check: string }) => check), ...skipped]);
  assert.equal([...rows].sort(), [...checks].sort());
});

test('the text output has a line per finding, the command below it, and a count', async () => {
  const root = await registered();
  chmodSync(join(root, 'mkey'), 0o644);
  const { status, stdout, stderr } = await run('runner-doctor', ['--offline'], { root });
  assert.equal([status, stderr], [1, '']);
  const lines = stdout.split('\n');
  const at = lines.indexOf(
    `problem  keys      others may read the master key: run chmod 600 ${shellWord(join(root, 'mkey'))}`,
  );
  assert.is(lines[at + 1], `                   chmod 600 ${shellWord(join(root, 'mkey'))}`);
  assert.is(
    lines.at(-2),
    '1 problem, no warnings; skipped (--offline): tokens, chats, clock, updates',
  );
  for (const line of lines.slice(0, -3))
    assert.match(line, /^(ok {5}|warning|problem) {2}[a-z]+ {2,}\S|^ {19}\S/, line);
});

test('a master key that only secrets of apps need is reported missing, too', async () => {
  const root = await registered();
  await run('runner-edit', ['shop', '--public'], { root });
  const set = ['set', 'shop', 'KEY', '--file', '-'];
  assert.is((await run('runner-env', set, { root, stdin: 'a-long-secret-1234' })).status, 0);
  assert.equal((await examined(root)).troubles, []);
  renameSync(join(root, 'mkey'), join(root, 'mkey.away'));
  const { status, troubles } = await examined(root);
  assert.is(status, 1);
  assert.match(
    troubles.join('\n'),
    'problem keys: secrets of shop are stored, but the master key is missing: restore it from a backup',
  );
});

test('a master key that is exposed, missing, damaged or foreign is reported', async () => {
  const root = await registered();
  const mkey = join(root, 'mkey');
  chmodSync(mkey, 0o640);
  await fixed(
    root,
    `problem keys: others may read the master key: run chmod 600 ${shellWord(mkey)}`,
  );
  renameSync(mkey, `${mkey}.away`);
  const missing = await examined(root);
  assert.equal(missing.troubles, [
    'problem keys: 1 token is stored, but the master key is missing: restore it from a backup',
  ]);
  const restore = (findings: readonly { check: string; fix: string | null }[]) =>
    findings.find(({ check }) => check === 'keys')?.fix;
  const from = `install -o ${process.getuid?.()} -g ${process.getgid?.()} -m 600 <BACKUP>/mkey ${shellWord(mkey)}`;
  assert.is(restore(missing.findings), from);
  put(root, 'mkey', 'no key\n');
  const damaged = await examined(root);
  assert.equal(damaged.troubles, [
    `problem keys: ${mkey} does not contain 32-byte keys in base64url, one per line`,
  ]);
  assert.is(restore(damaged.findings), from);
  put(root, 'mkey', `${Buffer.alloc(32, 7).toString('base64url')}\n`);
  const [foreign = ''] = (await examined(root)).troubles;
  assert.match(
    foreign,
    /^problem keys: the stored token of 'shop' is sealed with a master key that is not in use \(m_[0-9a-f]{8}\)$/,
  );
});

test('a key that Caddy may no longer read since a renewal is reported, with the command that lets it', async () => {
  const root = await registered();
  const etc = temporaryFolder('etc');
  const cert = put(etc, 'cert.pem', '', 0o644);
  const key = put(etc, 'key.pem', '', 0o600);
  const made = [{ id: 'reload caddy', kind: 'reload', state: 'made', fields: {} }];
  const record = { version: 1, app: 'shop', choices: { cert, key }, made };
  put(etc, 'runner/setup/shop.json', JSON.stringify(record));
  // Where no Caddy runs, its package's user is meant.
  const PATH = `${programs({ id: 'echo 65534' })}:${process.env.PATH}`;
  const { findings } = await examined(root, { env: { RUNNER_ETC: etc, PATH } });
  const found = findings.find(({ check }) => check === 'units');
  assert.match(found?.message ?? '', /^caddy runs as \w+, who may not read \S+\/key\.pem$/);
  assert.match(found?.fix ?? '', `:r ${key}`);
});

test.run();
