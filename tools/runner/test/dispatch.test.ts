import { symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { everywhere } from './stage.ts';

const done = (stdout: string) => ({ status: 0, signal: null, stdout, stderr: '' });

everywhere('a command beside the shim is run, an impostor earlier on PATH is not', (stage) => {
  stage.command(stage.own, 'tokens');
  stage.command(stage.outside, 'tokens');
  assert.equal(stage.run(['tokens']), done('tokens of own[]'));
});

everywhere('only the first argument names the command', (stage) => {
  stage.command(stage.own, 'tokens');
  stage.command(stage.own, 'tokens-list');
  assert.equal(stage.run(['tokens', 'list']), done('tokens of own[list]'));
  assert.equal(stage.run(['tokens-list']), done('tokens-list of own[]'));
});

everywhere('arguments arrive as they were given', (stage) => {
  stage.command(stage.own, 'x');
  const args = [
    '',
    ' a  b ',
    '*',
    '--',
    '-e',
    'new\nline\n',
    '$HOME',
    '`id`',
    "'",
    '"',
    '\\',
    '\u001b[1m',
    'é',
  ];
  assert.equal(stage.run(['x', ...args]), done(stage.told('x', 'own', args)));
  assert.equal(stage.run(['x', '']), done('x of own[]'));
});

everywhere('a command is the program of its name, also behind a link and for its help', (stage) => {
  stage.command(stage.own, 'why');
  stage.command(stage.own, 'debug');
  const link = join(stage.root, 'link');
  symlinkSync(join(stage.own, 'runner'), link);
  assert.equal(stage.run([link, 'why', 'shop'], { program: '/bin/sh' }), done('why of own[shop]'));
  assert.equal(stage.run(['help', 'why']), done('why of own[--help]'));
});

everywhere('stdin is left to the command', (stage) => {
  stage.command(stage.own, 'x', 'cat');
  assert.equal(stage.run(['x'], { input: 'one\ntwo' }), done('one\ntwo'));
});

everywhere('the command replaces the shim: its process, status and signal', (stage) => {
  stage.command(stage.own, 'pid', 'echo $$');
  stage.command(stage.own, 'fail', 'exit 75');
  stage.command(stage.own, 'killed', 'kill -TERM $$');
  const shell = stage.file(join(stage.root, 'ask'), '#!/bin/sh\necho $$; exec "$@"\n');
  const [before, after] = stage
    .run([join(stage.own, 'runner'), 'pid'], { program: shell })
    .stdout.split('\n');
  assert.is(after, before);
  assert.is(stage.run(['fail']).status, 75);
  assert.is(stage.run(['killed']).signal, 'SIGTERM');
});

everywhere('the environment arrives as it was given', (stage) => {
  stage.command(stage.own, 'x', '/usr/bin/env');
  const env = {
    PATH: '/usr/bin',
    HOME: '/h',
    name: 'n',
    file: 'f',
    LC_ALL: 'C.UTF-8',
    RUNNER_ROOT: ' r ',
  };
  const lines = stage.run(['x'], { env }).stdout.split('\n');
  for (const [name, value] of Object.entries(env))
    assert.ok(lines.includes(`${name}=${value}`), name);
  assert.not.ok(lines.some((line) => line.startsWith('shim_')));
});

everywhere('a foreign command on PATH is run, the first one', (stage) => {
  stage.command(stage.outside, 'foreign');
  stage.command(stage.folder('second'), 'foreign');
  const env = { PATH: `${stage.outside}/:${stage.root}/second:/usr/bin` };
  assert.equal(stage.run(['foreign', 'a'], { env }), done('foreign of outside[a]'));
});

everywhere('empty and relative entries of PATH are skipped', (stage) => {
  stage.command(stage.outside, 'foreign');
  stage.file(join(stage.outside, 'awk'), '#!/bin/sh\necho HIJACKED\n');
  for (const program of ['id', 'tr', 'sort', 'cat', 'find']) {
    symlinkSync('awk', join(stage.outside, program));
  }
  const env = { PATH: `:.:../outside::outside:${stage.root}/none:` };
  for (const args of [['foreign'], ['--list'], ['help'], ['nothing']]) {
    const end = stage.run(args, { env, cwd: stage.outside });
    assert.not.match(end.stdout + end.stderr, /HIJACKED|foreign of/);
    if (args[0] === 'foreign') assert.is(end.status, 127);
  }
});

everywhere('PATH entries with spaces, wildcards and quotes are folders like others', (stage) => {
  const odd = stage.folder("a  b * ? [x] 'q' $HOME");
  stage.file(join(odd, 'runner-foreign'), '#!/bin/sh\necho odd\n');
  const env = { PATH: `${stage.root}/*:${odd}` };
  assert.equal(stage.run(['foreign'], { env }), done('odd\n'));
  assert.equal(stage.run(['--list'], { env }), done('foreign\n'));
});

everywhere('it works without PATH and HOME', (stage) => {
  stage.command(stage.own, 'x');
  assert.equal(stage.run(['x'], { env: {} }), done('x of own[]'));
  assert.equal(stage.run(['--list'], { env: {} }), done('x\n'));
  assert.is(stage.run(['nothing'], { env: {} }).status, 127);
  assert.is(stage.run(['nothing'], { env: { PATH: '' } }).status, 127);
});

everywhere('it works when every command of the shell must succeed and be set', (stage) => {
  stage.command(stage.own, 'x');
  const strict = (...args: string[]) =>
    stage.run(['-eu', join(stage.own, 'runner'), ...args], { program: stage.sh });
  assert.equal(strict('x'), done('x of own[]'));
  assert.equal(strict('--list'), done('x\n'));
  assert.is(strict('help').status, 0);
  assert.is(strict().status, 2);
  assert.is(
    strict('nothing').stderr,
    "runner: unknown command 'nothing'; 'runner help' lists them\n",
  );
});

everywhere('it works in a folder that was deleted', (stage) => {
  stage.command(stage.own, 'x');
  const gone = stage.folder('gone');
  const script = `cd '${gone}' && rmdir '${gone}' && exec '${stage.own}/runner' "$@"`;
  const end = stage.run(['-c', script, 'sh', 'x', 'a'], { program: '/bin/sh' });
  assert.is(end.status, 0);
  assert.is(end.stdout, 'x of own[a]');
});

everywhere('it is found by a relative path, by PATH and as an argument of sh', (stage) => {
  stage.command(stage.own, 'x');
  stage.command(stage.outside, 'x');
  const told = done('x of own[]');
  assert.equal(stage.run(['x'], { program: 'own/runner' }), told);
  assert.equal(stage.run(['x'], { program: './runner', cwd: stage.own }), told);
  assert.equal(stage.run(['x'], { program: '../own/runner', cwd: stage.outside }), told);
  const env = { PATH: `${stage.own}:${stage.outside}:/usr/bin:/bin` };
  const other = { PATH: `${stage.outside}:${stage.own}:/usr/bin:/bin` };
  const script = 'exec runner "$@"';
  for (const each of [env, other]) {
    assert.equal(stage.run(['-c', script, 'sh', 'x'], { program: '/bin/sh', env: each }), told);
  }
  assert.equal(stage.run(['runner', 'x'], { program: stage.sh, cwd: stage.own }), told);
});

everywhere('it finds its folder through a chain of symlinks', (stage) => {
  stage.command(stage.own, 'x');
  stage.command(stage.outside, 'x');
  const [one, two] = [stage.folder('one'), stage.folder('two')];
  symlinkSync(relative(one, join(stage.own, 'runner')), join(one, 'renamed'));
  symlinkSync(join(one, 'renamed'), join(two, 'runner'));
  symlinkSync('two', join(stage.root, 'three'));
  for (const program of ['one/renamed', 'two/runner', 'three/runner']) {
    assert.equal(stage.run(['x'], { program: join(stage.root, program) }), done('x of own[]'));
  }
  assert.equal(stage.run(['--list'], { program: join(two, 'runner') }), done('x\n'));
});

everywhere('beside a symlink to the shim stands what the symlink was made for', (stage) => {
  stage.command(stage.own, 'x');
  const links = stage.folder('links');
  symlinkSync('../own/runner', join(links, 'runner'));
  stage.command(links, 'x');
  assert.equal(stage.run(['x'], { program: join(links, 'runner') }), done('x of links[]'));
});

everywhere('its folder may have any name', (stage) => {
  for (const name of ['a  b', '-odd', '-c', '*', "it's", '$HOME', 'runner-x']) {
    const folder = stage.folder(name);
    stage.shim(folder);
    stage.file(join(folder, 'runner-x'), '#!/bin/sh\nprintf "[%s]" "$@"\n');
    for (const program of [join(folder, 'runner'), `${name}/runner`]) {
      assert.equal(stage.run(['x', 'a b'], { program }), done('[a b]'), program);
      assert.equal(stage.run(['--list'], { program }), done('x\n'), program);
    }
    symlinkSync(join(folder, 'runner'), join(stage.outside, `link${name}`));
    const linked = stage.run(['x', 'a b'], { program: join(stage.outside, `link${name}`) });
    assert.equal(linked, done('[a b]'), name);
  }
});

test.run();
