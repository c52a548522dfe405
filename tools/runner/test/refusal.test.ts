import { chmodSync, chownSync, lchownSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { everywhere, isRoot } from './stage.ts';

/** As the shim shows a text: each byte beyond ASCII is a question mark. */
const shown = (text: string) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[^ -~]/g, '?');
const refused = (sentence: string) => ({
  status: 126,
  signal: null,
  stdout: '',
  stderr: `runner: ${shown(sentence)}\n`,
});
const done = (stdout: string) => ({ status: 0, signal: null, stdout, stderr: '' });
const SOMEBODY = 12345;
const rootOnly = isRoot ? undefined : 'only root is protected from others';

everywhere('a command that is not executable is reported with the fix', (stage) => {
  for (const folder of [stage.own, stage.outside]) {
    const path = stage.file(join(folder, 'runner-x'), '#!/bin/sh\n', 0o644);
    const sentence = `cannot run '${path}', it is not executable; to fix it: chmod +x '${path}'`;
    const env = { PATH: `${stage.outside}/:/usr/bin:/bin` };
    assert.equal(stage.run(['x'], { env }), refused(sentence));
    rmSync(path);
  }
});

everywhere('one of ours that is not executable still hides an impostor', (stage) => {
  stage.file(join(stage.own, 'runner-x'), '#!/bin/sh\n', 0o644);
  stage.command(stage.outside, 'x');
  assert.is(stage.run(['x']).status, 126);
});

everywhere('a later foreign command is run when an earlier one is not executable', (stage) => {
  stage.file(join(stage.outside, 'runner-x'), '#!/bin/sh\n', 0o644);
  stage.command(stage.folder('second'), 'x');
  const env = { PATH: `${stage.outside}:${stage.root}/second:/usr/bin:/bin` };
  assert.equal(stage.run(['x'], { env }), done('x of second[]'));
});

everywhere('a folder or a broken symlink is no command', (stage) => {
  stage.folder('own/runner-tokens');
  stage.folder('outside/runner-tokens');
  symlinkSync('nowhere', join(stage.own, 'runner-list'));
  for (const name of ['tokens', 'list']) {
    const stderr = `runner: unknown command '${name}'; 'runner help' lists them\n`;
    assert.equal(stage.run([name]), { status: 127, signal: null, stdout: '', stderr });
  }
  stage.command(stage.folder('second'), 'tokens');
  const env = { PATH: `${stage.outside}:${stage.root}/second:/usr/bin:/bin` };
  assert.equal(stage.run(['tokens'], { env }), done('tokens of second[]'));
});

everywhere('a command of a package that is missing is answered with the package', (stage) => {
  const packages = {
    fleet: 'fleet',
    agent: 'fleet',
    preview: 'preview',
    waker: 'preview',
    mcp: 'mcp',
  };
  for (const [name, from] of Object.entries(packages)) {
    const stderr = `runner: unknown command '${name}'; it comes with the package runner-${from}\n`;
    assert.equal(stage.run([name]), { status: 127, signal: null, stdout: '', stderr });
  }
});

everywhere('a missing interpreter is named', (stage) => {
  const interpreters = {
    '#!/none/such': '/none/such',
    '#! /none/such -x y': '/none/such -x y',
    '#!/bin/sh\r': '/bin/sh?',
    '#!\t/none/\u001b[1m': '/none/?[1m',
  };
  for (const [line, interpreter] of Object.entries(interpreters)) {
    const path = stage.file(join(stage.own, 'runner-x'), `${line}\necho\n`);
    const sentence = `cannot run '${path}', its interpreter '${interpreter}' is missing`;
    assert.equal(stage.run(['x']), refused(sentence));
  }
});

everywhere('whatever has an interpreter, or is a program itself, is run', (stage) => {
  for (const line of [
    '#!/bin/sh',
    '#! /bin/sh',
    '#!\t/bin/sh -e',
    '#!/usr/bin/env sh',
    '',
    '# no',
  ]) {
    stage.file(join(stage.own, 'runner-x'), `${line}\necho "$@"\n`);
    assert.equal(stage.run(['x', 'a']), done('a\n'), line);
  }
  symlinkSync(process.execPath, join(stage.own, 'runner-node'));
  assert.equal(stage.run(['node', '-p', '6 * 7']), done('42\n'));
});

everywhere('what the system refuses to run ends with 126', (stage) => {
  const broken = stage.file(join(stage.root, 'broken'), '#!/none/such\n');
  stage.file(join(stage.own, 'runner-x'), `#!${broken}\n`);
  assert.is(stage.run(['x']).status, 126);
  stage.file(join(stage.own, 'runner-x'), `#!${stage.own}\n`);
  assert.is(stage.run(['x']).status, 126);
});

everywhere(
  'as root, a foreign command that others could have changed is not run',
  (stage) => {
    const file = stage.command(stage.outside, 'x');
    const fix = (how: string, path: string) =>
      refused(
        `not running '${file}' as root, others could have changed it; to fix it: ${how} '${path}'`,
      );
    const changes: [string, number, number, string][] = [
      [file, 0, 0o775, 'chmod go-w'],
      [file, 0, 0o757, 'chmod go-w'],
      [file, SOMEBODY, 0o755, 'chown root'],
      [stage.outside, 0, 0o775, 'chmod go-w'],
      [stage.outside, 0, 0o757, 'chmod go-w'],
      [stage.outside, 0, 0o1777, 'chmod go-w'],
      [stage.outside, SOMEBODY, 0o755, 'chown root'],
      [stage.outside, SOMEBODY, 0o777, 'chown root'],
    ];
    for (const [path, uid, mode, how] of changes) {
      chownSync(path, uid, 0);
      chmodSync(path, mode);
      assert.equal(stage.run(['x']), fix(how, path), `${uid} ${mode.toString(8)} ${path}`);
      chownSync(path, 0, 0);
      chmodSync(path, 0o755);
      assert.equal(stage.run(['x']), done('x of outside[]'));
    }
  },
  rootOnly,
);

everywhere(
  'as root, a refused command is not replaced by a later one',
  (stage) => {
    chmodSync(stage.command(stage.outside, 'x'), 0o777);
    stage.command(stage.folder('second'), 'x');
    const env = { PATH: `${stage.outside}:${stage.root}/second:/usr/bin:/bin` };
    assert.is(stage.run(['x'], { env }).status, 126);
  },
  rootOnly,
);

everywhere(
  'as root, what a symlink leads to must be safe at every step',
  (stage) => {
    const [theirs, safe] = [stage.folder('theirs'), stage.folder('safe')];
    stage.command(safe, 'x');
    symlinkSync('../safe/runner-x', join(theirs, 'step'));
    symlinkSync(join(theirs, 'step'), join(stage.outside, 'runner-x'));
    assert.equal(stage.run(['x']), done('x of safe[]'));
    chownSync(theirs, SOMEBODY, SOMEBODY);
    assert.match(stage.run(['x']).stderr, `to fix it: chown root '${shown(theirs)}'\n`);
    chownSync(theirs, 0, 0);
    chmodSync(safe, 0o777);
    assert.match(stage.run(['x']).stderr, `to fix it: chmod go-w '${shown(theirs)}/../safe'\n`);
    chmodSync(safe, 0o755);
    lchownSync(join(stage.outside, 'runner-x'), SOMEBODY, SOMEBODY);
    assert.equal(stage.run(['x']), done('x of safe[]'));
  },
  rootOnly,
);

everywhere(
  'as root, our own folder is trusted, and other users run what they like',
  (stage) => {
    stage.command(stage.own, 'ours');
    chmodSync(stage.own, 0o777);
    assert.equal(stage.run(['ours']), done('ours of own[]'));
    chmodSync(stage.command(stage.outside, 'x'), 0o777);
    chownSync(stage.outside, SOMEBODY, SOMEBODY);
    assert.equal(stage.run(['x'], { uid: SOMEBODY }), done('x of outside[]'));
  },
  rootOnly,
);

test.run();
