/** The program that all three completions ask, as it stands in the completion of bash. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isInstalled, newStage, shellEnvironment } from './stage.ts';

const stage = newStage();
const env = shellEnvironment(stage);
let program: Promise<string> | undefined;

/** Its text, asked once. */
function source(): Promise<string> {
  program ??= run('runner-completion', ['bash']).then(
    ({ stdout }) => /<<'(\w+)'\n(.*?)\n\1\n/s.exec(stdout)?.[2] ?? '',
  );
  return program;
}

/** What is offered in place of the last word, with descriptions. */
async function offered(
  words: readonly string[],
  shell: readonly string[] = ['sh'],
): Promise<string[]> {
  const [file = '', ...args] = shell;
  const { stdout, stderr } = spawnSync(file, [...args, '-s', '--', ...words], {
    input: await source(),
    env,
    encoding: 'utf8',
  });
  assert.is(stderr, '', words.join(' '));
  return stdout.split('\n').slice(0, -1);
}

const namesOf = (lines: readonly string[]) => lines.map((line) => line.split('\t')[0]);

const APPS = ['blog', 'shop'];

/** What is typed before the word that is completed, that word, and what is offered. */
const CASES: readonly (readonly [typed: string, current: string, wanted: readonly string[]])[] = [
  ['runner tokens', '', ['list', 'test', 'rekey']],
  ['runner help tokens', '', ['list', 'test', 'rekey']],
  ['runner-tokens', '', ['list', 'test', 'rekey']],
  ['/usr/bin/runner tokens', '', ['list', 'test', 'rekey']],
  ['runner-tokens', '-', ['--help', '--version']],
  ['runner', '-', ['--help', '--list', '--version']],
  ['runner status', '', APPS],
  ['runner why', '', APPS],
  ['runner deploy shop', '', APPS],
  ['runner tokens test', '', APPS],
  ['runner fetch', '', APPS],
  ['runner fetch shop', '', APPS],
  ['runner add --token-from', '', APPS],
  ['runner add', '--token-from=', APPS.map((app) => `--token-from=${app}`)],
  ['runner --root /nowhere status', '', []],
  ['runner status --root /nowhere', '', []],
  ['runner status --root=/nowhere', '', []],
  ['runner rollback shop --to', '', ['v2', 'feature/x', 'v1']],
  ['runner rollback --to', '', []],
  ['runner deploy shop --ref', '', ['v3', 'v2', 'feature/x', 'v1']],
  ['runner env unset shop', '', ['API_KEY', 'DATABASE_URL']],
  ['runner rollback shop', '--to=', ['--to=v2', '--to=feature/x', '--to=v1']],
  ['runner rollback shop --no-notify --to', '', ['v2', 'feature/x', 'v1']],
  ['runner rollback -- shop', '', []],
  ['runner rollback shop --instance', '', ['blue', 'green']],
  ['runner rollback blog --instance', '', []],
  ['runner audit emit DeployStarted --project shop --version', '', ['v3', 'v2', 'feature/x', 'v1']],
  ['runner audit emit --project shop --deploy-id', '', ['a1b2c3d4']],
  ['runner debug log shop --deploy', '', ['a1b2c3d4']],
  [
    'runner audit emit',
    '',
    [
      'DeployStarted',
      'DeploySuccess',
      'DeployFailure',
      'RollbackSuccess',
      'AppDown',
      'AppUp',
      'ApprovalWanted',
      'CertEnding',
      'CheckRecovered',
      'DeployWaiting',
      'HeadBehind',
      'JobFailed',
      'JobMissed',
      'JobRecovered',
      'JobSlow',
      'PlanApproved',
      'PlanExpired',
      'TagChanged',
      'TokenEnding',
      'TokenRenewed',
      'WatchEnded',
      'WatchFailed',
      'WatchPassed',
      'AppStarted',
      'AppStopped',
      'AppRestarted',
      'TrafficHeld',
      'TrafficReleased',
      'PreviewReady',
      'PreviewFailed',
      'PreviewRemoved',
    ],
  ],
  ['runner list -o', '', ['human', 'json', 'yaml']],
  ['runner list --output', 'j', ['human', 'json', 'yaml']],
  ['runner list', '--output=', ['--output=human', '--output=json', '--output=yaml']],
  [
    'runner notify setup --channel',
    '',
    ['telegram', 'discord', 'slack', 'ntfy', 'email', 'webhook', 'both'],
  ],
  ['runner notify queue', '', ['list', 'show', 'retry', 'drop']],
  ['runner notify queue retry', '', ['mib0k3v1c-9f2e', 'mib0k3v1e-9f2e']],
  ['runner completion', '', ['bash', 'zsh', 'fish']],
  ['runner add --token-file', '', [':files']],
  ['runner add', '--token-file=', [':files']],
  ['runner list --root', '', [':folders']],
  ['runner add --branch', '', []],
  ['runner foo', '', [':foreign']],
  ['runner foo bar', '-', [':foreign']],
  ['runner-foo', '', [':foreign']],
  ['runner tokens nonsense', '', []],
];

test('each place of a command line is offered what fits', async () => {
  for (const [typed, current, wanted] of CASES)
    assert.equal(
      namesOf(await offered([...typed.split(' '), current])),
      wanted,
      `${typed} ${current}`,
    );
});

test('completion never starts Node', async () => {
  const folder = temporaryFolder('no-node');
  const marker = join(folder, 'started');
  writeFileSync(join(folder, 'node'), `#!/bin/sh\n: >'${marker}'\n`, { mode: 0o755 });
  const path = `${folder}:${env.PATH}`;
  for (const [typed, current] of CASES) {
    const args = ['-s', '--', ...typed.split(' '), current];
    spawnSync('sh', args, { input: await source(), env: { ...env, PATH: path } });
  }
  assert.not.ok(existsSync(marker));
  spawnSync('runner', ['list'], { env: { ...env, PATH: path } });
  assert.ok(existsSync(marker), 'a command of ours does start it');
});

test('the commands are those of runner --list and help, each with the first line of its own help', async () => {
  const lines = await offered(['runner', '']);
  const { stdout } = await run('runner', ['--list']);
  const known = [...stdout.trim().split('\n'), 'foo', 'help'];
  assert.equal(namesOf(lines).sort(), known.sort());
  assert.ok(lines.includes('rollback\tRoll back to the previous version'));
  assert.ok(lines.includes('foo\tA command on PATH'));
});

test('options are offered with their sentences, without those given and those in conflict with them', async () => {
  const all = await offered(['runner', 'add', '-']);
  assert.ok(all.includes('--public\tThe repository is public: use no token'));
  const names = namesOf(all);
  const { stdout } = await run('runner-add', ['--help']);
  const inHelp = [...stdout.matchAll(/^ {2}(?:-\w, | {4})(--[a-z-]+)/gm)].map(([, name]) => name);
  assert.equal(names, inHelp);
  const left = namesOf(
    await offered(['runner', 'add', '--public', '--repo', 'a/b', '--json', '-']),
  );
  const gone = [
    '--repo',
    '--token',
    '--token-file',
    '--token-from',
    '--public',
    '--ckey',
    '--app-id',
    '--app-key-file',
    '--json',
    '--output',
  ];
  assert.equal(
    left,
    names.filter((name) => !gone.includes(name ?? '')),
  );
  assert.equal(
    namesOf(await offered(['runner', 'list', ''])),
    namesOf(await offered(['runner', 'list', '-'])),
  );
});

test('dash, busybox and bash give the same answers', async () => {
  const shells = [['dash'], ['busybox', 'sh'], ['bash'], ['bash', '--posix']].filter(
    ([program = '']) => spawnSync(program, ['-c', ':']).error === undefined,
  );
  for (const [typed, current] of CASES.filter((_, index) => index % 3 === 0)) {
    const words = [...typed.split(' '), current];
    const wanted = await offered(words);
    for (const shell of shells)
      assert.equal(await offered(words, shell), wanted, `${shell} ${typed}`);
  }
});

test('shellcheck has nothing to say about it', async () => {
  if (!isInstalled('shellcheck')) return;
  // A description may hold a dollar sign.
  const args = ['--shell=sh', '--exclude=SC2016', '-'];
  const { stdout } = spawnSync('shellcheck', args, { input: await source(), encoding: 'utf8' });
  assert.is(stdout, '');
});

test('completion prints the script of a shell, and no other shell is known', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { status, stdout, stderr } = await run('runner-completion', [shell]);
    assert.equal([status, stderr], [0, '']);
    const json = await run('runner-completion', [shell, '--json']);
    assert.equal(JSON.parse(json.stdout), { shell, script: stdout });
  }
  const { status, stdout, stderr } = await run('runner-completion', ['tcsh']);
  const sentence = "error: invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish]\n";
  assert.equal([status, stdout, stderr], [2, '', sentence]);
});

test.run();
