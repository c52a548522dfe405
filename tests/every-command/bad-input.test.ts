/** Wrong input, and outputs that take nothing, over all tools: one sentence, the right status. */
import { chmodSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asNobody, run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ANSWERING, each, madeRoot, refuses, sentenceOf, WRONG } from './bad-input.ts';

test("wrong usage is refused in clap's words, with status 2", () =>
  refuses('runner-list', [], WRONG));

test('an option that another one leaves without effect is refused', async () => {
  for (const [args, one, other] of [
    ['runner-deploy shop --check --plan p-00000000', '--check', '--plan <ID>'],
    ['runner-deploy shop --dry-run --plan p-00000000', '--dry-run', '--plan <ID>'],
    ['runner-start --boot --plan p-00000000', '--boot', '--plan <ID>'],
    ['runner-start --boot --emergency fire', '--boot', '--emergency <REASON>'],
  ] as const) {
    const [tool = '', ...words] = args.split(' ');
    const told = sentenceOf(await run(tool, words, { root: temporaryFolder('wrong') }), 2, args);
    assert.is(told, `error: the argument '${one}' cannot be used with '${other}'`);
  }
});

/** Wrong texts of config.yml, and what the error says after the file's name. */
const CONFIGS: readonly (readonly [text: string | Buffer, sentence: string])[] = [
  ['notify: [', ':1: wrong indentation, or a bracket that is not closed'],
  ['\n\ta: 1', ':2: a tab is used for indentation: use spaces'],
  ['notify:\n  x: 1\n  x: 2', ':3: x: duplicate key'],
  ['a: &x 1\nb: *x', ':2: uses an alias (*name): write the value out'],
  [`a: ${'['.repeat(40)}`, ':1: has brackets nested too deeply'],
  [`${'? '.repeat(500)}a`, ':1: is nested too deeply'],
  ['a: 1\u0000', ':1: has a control character'],
  [Buffer.from([0x61, 0x3a, 0x20, 0xff]), ':1: is not UTF-8 text'],
  ['x'.repeat(65_000) + '\n'.repeat(500), ':1: '],
  ['a: 1\n---\nb: 2', ': has more than one document'],
  ['max_deploy_retries: lots', ':1: max_deploy_retries: must be a whole number from 1 to 1000'],
  [
    'notify:\n  max_deploy_retries: 0',
    ':2: notify.max_deploy_retries: must be a whole number from 1 to 1000',
  ],
  ['notify: yes please', ':1: notify: must be a section, not a single value'],
];

test('the commands that use config.yml report a malformed one with file, line and key', async () => {
  const root = madeRoot();
  const file = join(root, 'config.yml');
  for (const [turn, [text, sentence]] of CONFIGS.entries()) {
    writeFileSync(file, text);
    const [tool = '', ...args] = turn % 2 ? ['runner-status', 'shop'] : ['runner-list'];
    const ended = await run(tool, [...args, '--json'], { root });
    const what = `${tool}: ${String(text).slice(0, 40)}`;
    const told = sentenceOf(ended, 1, what);
    assert.ok(told.includes(`: ${file}:`) && told.includes(sentence), `${what}: ${told}`);
    assert.match(told, / \(config_invalid\)$/, what);
    assert.is(JSON.parse(ended.stdout).error, 'config_invalid');
  }
});

test('a config.yml that is not a regular file is reported', async () => {
  const folder = madeRoot();
  mkdirSync(join(folder, 'config.yml'));
  const link = madeRoot();
  symlinkSync('/etc/passwd', join(link, 'config.yml'));
  for (const root of [folder, link]) {
    const told = sentenceOf(await run('runner-list', [], { root }), 1, root);
    assert.match(told, /^runner list: cannot read .+config\.yml: .* \(file_unreadable\)$/);
  }
});

test('a command that uses no configuration does not mind a malformed one', async () => {
  const root = madeRoot();
  writeFileSync(join(root, 'config.yml'), 'notify: [');
  for (const [tool, ...args] of ANSWERING) {
    const { status, stderr } = await run(tool, args, { root });
    assert.equal([status, stderr.replace(/^.*without a token.*\n/, '')], [0, ''], tool);
  }
});

test('two options that both read standard input are refused', async () => {
  const lines = [
    ['runner-edit', 'shop', '--token', '-', '--deploy-file', '-'],
    ['runner-restore', '-', '--passphrase-file', '-'],
    ['runner-restore', '-', '--identity', '-'],
    ['runner-notify', 'setup', '--webhook-file', '-', '--token-file', '-'],
  ];
  for (const [what, ended] of await each(lines, { stdin: 'ghp_0123456789abcdefghij\n' }))
    assert.match(sentenceOf(ended, 2, what), /both read standard input$/, what);
});

test('an unwritable stderr does not change the status', async () => {
  const full = openSync('/dev/full', 'w');
  for (const [tool, args, status] of [
    ['runner-list', ['--nonsense'], 2],
    ['runner-status', ['nope'], 1],
    ['runner-status', ['nope', '--json'], 1],
    ['runner-add', [], 2],
  ] as const) {
    const ended = await run(tool, args, { root: madeRoot(), fds: { 2: full } });
    assert.is(ended.status, status, `${tool} ${args.join(' ')}`);
  }
  const closed = await shell('runner-status nope 2>&-; echo "status $?"', { root: madeRoot() });
  assert.is(closed.stdout, 'status 1\n');
});

test('a root that is a file is reported', async () => {
  const file = join(temporaryFolder('bad'), 'file');
  writeFileSync(file, '');
  for (const [tool, ...args] of [
    ['runner-list'],
    ['runner-status', 'shop'],
    ['runner-tokens', 'list'],
    ['runner-debug', 'last-error', 'shop'],
    ['runner-audit', 'emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'],
    ['runner-audit', 'tail'],
  ] as const) {
    const told = sentenceOf(await run(tool, args, { root: file }), 1, tool);
    assert.match(told, /: a part of its path is not a directory \(\w+\)$/, tool);
  }
});

test('the environment can be empty and the current folder deleted', async () => {
  const root = madeRoot();
  const gone = shellWord(join(temporaryFolder('bad'), 'gone'));
  const script = `mkdir ${gone} && cd ${gone} && rmdir ${gone} && exec env -i ${shellWord(process.execPath)} "$(command -v runner-list)" --root ${shellWord(root)}`;
  const { status, stderr, stdout } = await shell(script);
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /^APP /);
  chmodSync(join(root, 'state'), 0o700);
});

test('a root out of reach, also from a folder that is deleted, is reported', async () => {
  if (process.getuid?.() !== 0) return;
  const closed = temporaryFolder('closed');
  mkdirSync(join(closed, 'root'));
  chmodSync(closed, 0o700);
  const root = join(closed, 'root');
  for (const [tool, args] of [
    ['runner-list', ''],
    ['runner-status', 'shop --json'],
    ['runner-tokens', 'list'],
    ['runner-audit', 'tail'],
    ['runner-history', ''],
  ] as const) {
    for (const place of ['cd /', 'cd "$(mktemp -d)" && rmdir "$PWD"']) {
      const ended = await shell(`${place} && exec ${asNobody(tool)} ${args}`, { root });
      const told = sentenceOf(ended, 1, tool);
      assert.match(told, /cannot read .*: permission denied \(file_unreadable\)$/, tool);
      if (args.includes('--json')) assert.is(JSON.parse(ended.stdout).error, 'file_unreadable');
    }
  }
});

test('what loops, is closed, or cannot be read or written is one sentence', async () => {
  const folder = temporaryFolder('bad');
  const [loop, file, page] = ['loop', 'file', 'page'].map((name) => join(folder, name));
  symlinkSync('loop', loop as string);
  for (const name of [file, page]) writeFileSync(name as string, 'a passphrase of ours\n');
  const secret = ['--passphrase-file', page] as string[];
  const made = join(folder, 'made');
  const backup = ['--to', made, ...secret];
  assert.is((await run('runner-backup', backup, { root: madeRoot() })).status, 0);
  const refused = async (root: string, [tool = '', ...args]: string[], sentence: RegExp) => {
    const ended = await run(tool, args, { root });
    assert.match(sentenceOf(ended, 1, tool), sentence, tool);
  };
  const link = /: cannot \w+ .*: it is a symbolic link \(\w+\)$/;
  const other = join(folder, 'other');
  await refused(loop as string, ['runner-backup', '--to', other, ...secret], link);
  await refused(loop as string, ['runner-restore', made, ...secret], link);
  await refused(
    file as string,
    ['runner-restore', made, ...secret],
    /: cannot restore into .*not a directory/,
  );
  await refused(folder, ['runner-init', loop as string], link);
  const memory = await shell('runner-audit emit < /proc/self/mem', { root: folder });
  assert.match(
    sentenceOf(memory, 1, 'emit'),
    /cannot read standard input: .* \(file_unreadable\)$/,
  );
});

test.run();
