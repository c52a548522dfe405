/** What the doctor says as a whole, and about folders, keys and config.yml. */
import {
  appendFileSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { checkoutFolder, run, shellWord } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, fixed, put, registered } from './patient.ts';

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

test('a command of ours names the root unless the environment does', async () => {
  const root = join(temporaryFolder('doctor'), 'a root');
  const mendOf = async (env: Record<string, string | undefined>) => {
    const args = ['--offline', '--json', '--root', root];
    const { stdout } = await run('runner-doctor', args, { env });
    return JSON.parse(stdout).findings[0].fix;
  };
  const add = 'runner add --repo <OWNER/NAME> --branch <BRANCH>';
  assert.is(await mendOf({}), `${add} --root '${root}'`);
  assert.is(await mendOf({ RUNNER_ROOT: root }), add);
});

test('folders and files that others can write or read are reported with the command that fixes them', async () => {
  const root = await registered();
  put(root, 'config.yml', 'notify:\n  telegram_bot_token: "1:abc"\n  telegram_chat_id: "1"\n');
  put(root, 'logs/deploy-events.jsonl', '', 0o640);
  const at = (path: string) => join(root, path);
  for (const [path, mode, trouble] of [
    ['', 0o775, `problem folders: ${root} can be written by others`],
    ['state', 0o770, `problem folders: ${at('state')} can be written by others`],
    ['state', 0o750, `warning folders: ${at('state')} can be read by others`],
    ['state/shop.json', 0o644, `warning folders: ${at('state/shop.json')} can be read by others`],
    ['config.yml', 0o604, `problem folders: ${at('config.yml')} has secrets that others can read`],
    [
      'logs/deploy-events.jsonl',
      0o642,
      `problem folders: ${at('logs/deploy-events.jsonl')} can be written by others`,
    ],
  ] as const) {
    chmodSync(at(path), mode);
    if (path === 'state' && mode === 0o770) {
      const { troubles } = await examined(root);
      assert.ok(troubles.includes(trouble), String(troubles));
      chmodSync(at(path), 0o700);
    } else await fixed(root, trouble);
  }
});

test('a folder above the root that others can write is reported', async () => {
  const root = await registered();
  chmodSync(dirname(root), 0o777);
  await fixed(root, `problem folders: ${dirname(root)} can be written by others`);
});

test('a link in place of a file is reported', async () => {
  const root = await registered();
  writeFileSync(join(root, 'elsewhere'), 'notify: {}\n', { mode: 0o600 });
  symlinkSync('elsewhere', join(root, 'config.yml'));
  const { troubles } = await examined(root);
  assert.equal(troubles, [
    `problem folders: ${root}/config.yml is a symbolic link`,
    `problem config: cannot read ${root}/config.yml: it is a symbolic link`,
  ]);
});

test('a root that is a file is reported', async () => {
  const file = join(temporaryFolder('doctor'), 'file');
  writeFileSync(file, '');
  const { troubles } = await examined(file);
  assert.is(troubles[0], `problem folders: ${file} is not a directory`);
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

test('an older master key left by a rekey is reported, and rekey fixes it', async () => {
  const root = await registered();
  appendFileSync(join(root, 'mkey'), `${Buffer.alloc(32, 7).toString('base64url')}\n`);
  await fixed(root, 'warning keys: 1 older master key is kept: a rekey was interrupted');
});

test('a state that cannot be read is reported, and hides nothing else', async () => {
  const root = await registered();
  put(root, 'state/blog.json', '{');
  const { troubles } = await examined(root);
  assert.equal(troubles, [
    `problem keys: the state file ${join(root, 'state/blog.json')} is not JSON`,
  ]);
});

test('an altered token is reported with the command that sets it again', async () => {
  const root = await registered();
  const file = join(root, 'state/shop.json');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/"repohost_token": "[^.]+/, '"repohost_token": "AAAA'),
  );
  const { troubles, findings } = await examined(root);
  assert.equal(troubles, ["problem keys: the stored token of 'shop' is damaged"]);
  assert.is(findings.find(({ level }) => level === 'problem')?.fix, 'runner edit shop --token -');
});

test('a wrong config.yml is reported with its line; an unknown key is a warning', async () => {
  const root = await registered();
  const file = put(root, 'config.yml', 'notify:\n  verbose_errors: maybe\n');
  const wrong = await examined(root);
  assert.equal(wrong.troubles, [
    `problem config: ${file}:2: notify.verbose_errors: must be true or false`,
  ]);
  assert.is(
    wrong.findings.find(({ level }) => level === 'problem')?.fix,
    `\${EDITOR:-vi} +2 ${shellWord(file)}`,
  );
  for (const [text, problem] of [
    ['sandbox: maybe', '1: sandbox: must be'],
    ['sandbox: { modus: off }', '1: sandbox'],
    ['sandbox:\n  allow: { shop: [tmp] }', '2: sandbox'],
    ['sandbox: { allow: { shop: [/] } }', '1: sandbox'],
    ['build: { memory: lots }', '1: build.memory: must be a size like 512M or 1G'],
    ['build: { network: "no" }', '1: build.network: must be true, false, learn, a host'],
    ['deploy_windows: 5', '1: deploy_windows: must be'],
    [
      'deploy_windows:\n  - { allow: mon }\n  - allow: [tue, wen]',
      "3: deploy_windows[1].allow[1]: 'wen' is not days and times",
    ],
    [
      'deploy_windows:\n  - { allow: mon }\n  - { app: shop }',
      '3: deploy_windows[1]: a rule needs',
    ],
  ] as const) {
    put(root, 'config.yml', `${text}\n`);
    const { troubles, findings } = await examined(root);
    assert.is(troubles.length, 1, text);
    assert.ok(troubles[0]?.startsWith(`problem config: ${file}:${problem}`), troubles[0]);
    const fix = findings.find(({ level }) => level === 'problem')?.fix;
    assert.is(fix, `\${EDITOR:-vi} +${Number.parseInt(problem, 10)} ${shellWord(file)}`);
  }
  put(root, 'config.yml', 'mine: 1\nnotify:\n  chanel: both\n  templates:\n    started: {}\n');
  assert.equal((await examined(root)).troubles, [
    `warning config: ${file}:1: mine is not a known key`,
    `warning config: ${file}:3: notify.chanel is not a known key`,
  ]);
  put(root, 'config.yml', 'deploy_windows: [{ app: shopp, allow: mon }]\n');
  assert.equal((await examined(root)).troubles, [
    `warning config: ${file}:1: deploy_windows[0].app: no app called 'shopp' is registered`,
  ]);
  put(root, 'config.yml', 'require_approval: { shopp: { deploy: 1, by: [ada] } }\n');
  assert.equal((await examined(root)).troubles, [
    `warning config: ${file}:1: require_approval.shopp: no app called 'shopp' is registered`,
  ]);
  rmSync(file);
  assert.equal((await examined(root)).troubles, []);
});

test.run();
