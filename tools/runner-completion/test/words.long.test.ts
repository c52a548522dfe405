/** The program that all three completions ask, as it stands in the completion of bash. */
import { spawnSync } from 'node:child_process';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isInstalled } from './stage.ts';
import { CASES, namesOf, offered, source } from './words.ts';

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
