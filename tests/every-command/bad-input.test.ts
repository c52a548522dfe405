/** Wrong input, and outputs that take nothing, over all tools: one sentence, the right status. */
import { chmodSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, type RunOptions, run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allCommands, commandsIn } from './commands.ts';

/** The status, and one line on stderr that is not a stack trace; its text. */
function sentenceOf({ status, stderr }: Ended, wanted: number, what: string): string {
  assert.is(status, wanted, `${what}: ${stderr}`);
  assert.match(stderr, /^[^\n]+\n$/, `${what}: ${stderr}`);
  assert.not.match(stderr, /\bat .*:\d+:\d+|this is a bug/, what);
  return stderr.trimEnd();
}

/** Wrong usage of every command: what is typed behind it, and the sentence. */
const WRONG: readonly (readonly [args: readonly string[], sentence: string])[] = [
  [['--nonsense'], "unexpected argument '--nonsense' found"],
  [['--josn'], "unexpected argument '--josn' found; a similar argument exists: '--json'"],
  [['-Z'], "unexpected argument '-Z' found"],
  [['--root'], "a value is required for '--root <DIR>' but none was supplied"],
  [['--root='], "a value is required for '--root <DIR>' but none was supplied"],
  [['--root', '--json'], "a value is required for '--root <DIR>' but none was supplied"],
  [['--root=a', '--root=b'], "the argument '--root <DIR>' cannot be used multiple times"],
  [['--json=yes'], "unexpected value for '--json' found; no more were expected"],
  [['-o'], "a value is required for '--output <FORMAT>' but none was supplied"],
  [
    ['-o', 'xml'],
    "invalid value 'xml' for '--output <FORMAT>' [possible values: human, json, yaml]",
  ],
  [['-oyaml', '--json'], "the argument '--json' cannot be used with '--output <FORMAT>'"],
  [['--json', '-oyaml'], "the argument '--json' cannot be used with '--output <FORMAT>'"],
  [
    ['--color', 'sometimes'],
    "invalid value 'sometimes' for '--color <WHEN>' [possible values: auto, always, never]",
  ],
  [['--no\u001b[31m\u202e'], "unexpected argument '--no\\x1b[31m\\u202e' found"],
];

/** Refuses these, and does nothing. */
async function refuses(tool: string, words: readonly string[], wrong: typeof WRONG): Promise<void> {
  const root = temporaryFolder('wrong');
  const ended = await Promise.all(wrong.map(([args]) => run(tool, [...words, ...args], { root })));
  for (const [index, [args, sentence]] of wrong.entries()) {
    const what = [tool, ...words, ...args].join(' ');
    const one = ended[index] as Ended;
    assert.is(sentenceOf(one, 2, what), `error: ${sentence}`, what);
    if (args.includes('--json'))
      assert.equal(JSON.parse(one.stdout), { error: 'usage', message: sentence }, what);
    else assert.is(one.stdout, '', what);
  }
  assert.equal(tree(root), {});
}

test("wrong usage is refused in clap's words, with status 2", () =>
  refuses('runner-list', [], WRONG));

test('every command refuses a wrong option', async () => {
  const { commands } = await allCommands();
  for (const [turn, { tool, words }] of commands.entries())
    await refuses(tool, words, WRONG.slice(turn % WRONG.length).slice(0, 1));
});

test('a tool of several commands names them when none or an unknown one is given', async () => {
  const { tools } = await allCommands();
  for (const { tool, help } of tools) {
    const names = commandsIn(help);
    const [first] = names;
    // These answer a call where no command is named.
    if (first === undefined || ['runner-bell', 'runner-jobs', 'runner-preview'].includes(tool))
      continue;
    const list = `[subcommands: ${names.join(', ')}]`;
    for (const [args, sentence] of [
      [[], `'${tool.replace('-', ' ')}' requires a subcommand but one was not provided ${list}`],
      [['nonsense-word'], `unrecognized subcommand 'nonsense-word' ${list}`],
      [['--json'], `unexpected argument '--json' found before a subcommand ${list}`],
      [['__proto__'], `unrecognized subcommand '__proto__' ${list}`],
      [
        [`${first}x`],
        `unrecognized subcommand '${first}x'; a similar subcommand exists: '${first}'`,
      ],
    ] as const) {
      const what = [tool, ...args].join(' ');
      assert.is(sentenceOf(await run(tool, args), 2, what), `error: ${sentence}`, what);
    }
  }
});

/** A root with a new app, one with failures, and a log. */
function madeRoot(): string {
  const root = temporaryFolder('bad');
  mkdirSync(join(root, 'state'));
  mkdirSync(join(root, 'logs'));
  const failures = { commit: 'c'.repeat(40), count: 1, last_at: 't', stage: 'build' };
  for (const [app, more] of [
    ['shop', { failures }],
    ['blog', {}],
  ] as const) {
    const state = { version: 1, app, repo: `acme/${app}`, branch: 'main', ...more };
    writeFileSync(join(root, 'state', `${app}.json`), JSON.stringify(state));
  }
  const failure = '{"event":"DeployFailure","app":"shop","version":"v1","error":"x"}\n';
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), failure);
  return root;
}

/** Wrong texts of config.yml, and what the error says after the file's name. */
const CONFIGS: readonly (readonly [text: string | Buffer, sentence: string])[] = [
  ['notify: [', ':1: wrong indentation, or a bracket that is not closed'],
  ['\n\ta: 1', ':2: a tab is used for indentation: use spaces'],
  ['notify:\n  x: 1\n  x: 2', ':3: duplicate key'],
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

/** Commands that answer on `madeRoot`, none of which reads config.yml. */
const ANSWERING = [
  ['runner-status', 'blog'],
  ['runner-tokens', 'list'],
  ['runner-debug', 'last-error', 'shop'],
  ['runner-audit', 'tail'],
  ['runner-audit', 'emit', 'DeployStarted', '--project', 'shop', '--version', 'v1'],
] as const;

test('a command that uses no configuration does not mind a malformed one', async () => {
  const root = madeRoot();
  writeFileSync(join(root, 'config.yml'), 'notify: [');
  for (const [tool, ...args] of ANSWERING) {
    const { status, stderr } = await run(tool, args, { root });
    assert.equal([status, stderr.replace(/^.*without a token.*\n/, '')], [0, ''], tool);
  }
});

/** Every command line whose output is tried: the answers and every help. */
async function printing(): Promise<(readonly string[])[]> {
  const { tools } = await allCommands();
  return [
    ...ANSWERING,
    ['runner-list'],
    ['runner-list', '--json'],
    ['runner-list', '-o', 'yaml'],
    ...tools.map(({ tool }) => [tool, '--help']),
  ];
}

/** Runs each on a root of its own with these options. */
async function each(
  lines: readonly (readonly string[])[],
  options: RunOptions,
): Promise<[what: string, ended: Ended][]> {
  return Promise.all(
    lines.map(async ([tool = '', ...args]): Promise<[string, Ended]> => {
      const ended = await run(tool, args, { root: madeRoot(), ...options });
      return [[tool, ...args].join(' '), ended];
    }),
  );
}

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

test('output that does not fit on a full disk is a failure with a clear error', async () => {
  const full = openSync('/dev/full', 'w');
  for (const [what, ended] of await each(await printing(), { fds: { 1: full } })) {
    const told = sentenceOf({ ...ended, stderr: withoutNotes(ended.stderr) }, 1, what);
    assert.match(
      told,
      /^runner [a-z -]+: cannot write to standard output: no space left on the disk \(output_failed\)$/,
      what,
    );
  }
});

/** Apps without a token are no failure. */
function withoutNotes(stderr: string): string {
  return stderr.replace(/^runner tokens list: without a token: .*\n/, '');
}

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

test.run();
