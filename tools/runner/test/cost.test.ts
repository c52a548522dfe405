import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { everywhere, installed, type Stage, source } from './stage.ts';

const strace = installed('strace');

/** Why system calls cannot be counted here: strace may be missing, or forbidden in a container. */
function lack(): string | undefined {
  if (strace === undefined) return 'strace is not installed';
  const { status } = spawnSync(strace, ['-f', '-e', 'trace=execve', 'true'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'strace may not trace here';
}
const cannotTrace = lack();

/** The system calls of these names that a run of the shim makes, one line each. */
function calls(
  stage: Stage,
  names: string,
  args: readonly string[],
  program = join(stage.own, 'runner'),
) {
  const log = join(stage.root, 'calls');
  stage.run(
    ['-f', '-qq', '-e', `trace=${names}`, '-e', 'signal=none', '-o', log, program, ...args],
    {
      program: strace ?? '',
    },
  );
  return readFileSync(log, 'utf8').split('\n').filter(Boolean);
}

// Not every architecture has all of them, which `?` allows.
const FORKS = '?fork,?vfork,?clone,?clone3';

everywhere(
  'on the way to one of our commands nothing is forked',
  (stage) => {
    stage.command(stage.own, 'x', ':');
    for (const args of [['x'], ['x', 'a', 'b'], ['help', 'x']]) {
      const lines = calls(stage, `${FORKS},execve`, args);
      assert.is(lines.filter((line) => line.includes('execve(')).length, 2, lines.join('\n'));
      assert.is(lines.length, 2, lines.join('\n'));
    }
  },
  cannotTrace,
);

everywhere(
  'a command for node is started without a fork, and without env',
  (stage) => {
    stage.file(join(stage.own, 'runner-x'), '#!/usr/bin/env node\n');
    stage.file(join(stage.outside, 'node'), '#!/bin/sh\n');
    const lines = calls(stage, `${FORKS},execve`, ['x']);
    const started = lines.filter((line) => line.endsWith(' = 0'));
    assert.is(started.length, 2, lines.join('\n'));
    assert.match(started[1] ?? '', '/outside/node", ["node", ');
    assert.equal(
      lines.filter((line) => line.includes('clone')),
      [],
    );
  },
  cannotTrace,
);

everywhere(
  'beside a symlink to the shim nothing is forked either',
  (stage) => {
    stage.command(stage.own, 'x', ':');
    const links = stage.folder('links');
    symlinkSync('../own/runner', join(links, 'runner'));
    symlinkSync('../own/runner-x', join(links, 'runner-x'));
    const lines = calls(stage, FORKS, ['x'], join(links, 'runner'));
    assert.equal(lines, []);
  },
  cannotTrace,
);

everywhere(
  'an unknown command starts no program of its own folder and no Node',
  (stage) => {
    for (const name of ['tokens', 'list']) stage.command(stage.own, name);
    const started = calls(stage, 'execve', ['tokns']).filter((line) => line.endsWith(' = 0'));
    assert.not.match(started.join('\n'), /runner-|node/);
  },
  cannotTrace,
);

everywhere(
  'what is not a name is not looked for',
  (stage) => {
    const lines = calls(stage, '%file', ['../runner-x y']);
    assert.not.match(lines.filter((line) => !line.includes('execve(')).join('\n'), /runner-/);
  },
  cannotTrace,
);

const shellcheck = installed('shellcheck');
const sentence = 'shellcheck has nothing to say';
if (shellcheck === undefined) {
  console.log(`skipped: ${sentence}: shellcheck is not installed`);
  test.skip(sentence);
} else {
  test(sentence, () => {
    const { status, stdout } = spawnSync(shellcheck, ['--shell=sh', source], { encoding: 'utf8' });
    assert.is(stdout, '');
    assert.is(status, 0);
  });
}

test.run();
