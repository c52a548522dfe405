/** What the doctor says as a whole, and about folders, keys and config.yml. */
import {
  appendFileSync,
  chmodSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { run, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { examined, fixed, put, registered } from './patient.ts';

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
  put(
    root,
    'config.yml',
    'sandbox: { network: { shopp: [npm], shop: [npm] }, apps: { b: auto } }\n',
  );
  assert.equal((await examined(root)).troubles, [
    `warning config: ${file}:1: sandbox.apps.b: no app called 'b' is registered`,
    `warning config: ${file}:1: sandbox.network.shopp: no app called 'shopp' is registered`,
  ]);
  rmSync(file);
  assert.equal((await examined(root)).troubles, []);
});

test.run();
