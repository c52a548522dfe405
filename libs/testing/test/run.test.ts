import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, executable, run, shell, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a tool runs to its end and returns its output, status and duration', async () => {
  const { status, signal, stdout, stderr, stdoutBytes, ms } = await run('runner', ['--version']);
  assert.is(status, 0);
  assert.is(signal, null);
  assert.match(stdout, /^runner \d+\.\d+\.\d+\n$/);
  assert.is(stderr, '');
  assert.is(stdoutBytes.toString(), stdout);
  assert.ok(ms > 0);
});

test('a tool that was not built is named', () => {
  assert.throws(() => executable('runner-nothing'), /runner-nothing has not been built/);
});

test('a program gets a clean environment and a home of its own', async () => {
  process.env.RUNNER_TOKEN = 'must-not-be-inherited';
  process.env.NODE_EXTRA_CA_CERTS = '/nowhere';
  const { stdout } = await shell('env', {
    root: '/the/root',
    env: { EXTRA: 'x', TMPDIR: undefined },
  });
  delete process.env.RUNNER_TOKEN;
  delete process.env.NODE_EXTRA_CA_CERTS;
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  assert.equal(names.filter((name) => name !== '_').sort(), [
    'EXTRA',
    'HOME',
    'LANG',
    'PATH',
    'PWD',
    'RUNNER_BELL_DIR',
    'RUNNER_ROOT',
    'RUNNER_SANDBOX',
  ]);
  assert.match(stdout, 'RUNNER_ROOT=/the/root\n');
  assert.is.not(cleanEnvironment().HOME, process.env.HOME);
});

test('the built executables are first on PATH', async () => {
  const { stdout } = await shell('command -v runner');
  assert.is(stdout, `${executable('runner')}\n`);
});

test('stdin is the given text, empty by default', async () => {
  assert.is((await shell('cat', { stdin: 'grüße\n' })).stdout, 'grüße\n');
  assert.is((await shell('cat')).stdout, '');
});

test('status and signal are distinguished', async () => {
  const failed = await shell('exit 7');
  assert.equal([failed.status, failed.signal], [7, null]);
  const killed = await shell('kill -TERM $$');
  assert.equal([killed.status, killed.signal], [null, 'SIGTERM']);
});

test('output that is not text keeps its bytes', async () => {
  const { stdoutBytes } = await shell(String.raw`printf '\377\000'`);
  assert.equal([...stdoutBytes], [255, 0]);
});

test('further descriptors reach the program', async () => {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, 'from nine');
  const fd = openSync(file, 'r');
  const { stdout } = await shell('cat <&9', { fds: { 9: fd } });
  closeSync(fd);
  assert.is(stdout, 'from nine');
});

test('a program that does not end is killed with all its children, and its output is in the error', async () => {
  // Of this test alone: other runs of it may be at work on this machine.
  const seconds = `600.${process.pid}`;
  const script = `echo before; sleep ${seconds} & sleep ${seconds}`;
  const error = await shell(script, { timeout: 3000 }).then(
    () => assert.unreachable(),
    (reason: Error) => reason,
  );
  assert.match((error as Error).message, /has not ended after 3000 ms/);
  assert.match((error as Error).message, /before/);
  const all = 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "';
  const left = async () => (await shell(all)).stdout.includes(`sleep ${seconds} `);
  await until(async () => !(await left()), 'a child was not killed');
});

test('a daemon that keeps holding the output is not waited for for ever', async () => {
  const error = await shell('setsid sleep 20 & exit 0', { timeout: 3000 }).catch((e: Error) => e);
  assert.match((error as Error).message, 'has ended, but its output is held');
});

/** A dist folder with one program of its own, in place of the built one. */
async function withProgram<T>(script: string, use: () => Promise<T>): Promise<T> {
  const dist = temporaryFolder('dist');
  mkdirSync(join(dist, 'bin'));
  writeFileSync(join(dist, 'bin/program'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  process.env.RUNNER_DIST = dist;
  try {
    return await use();
  } finally {
    delete process.env.RUNNER_DIST;
  }
}

test('a running program is spoken to and read line by line', async () => {
  const conversation = await withProgram(
    'while read -r line; do echo "got $line"; done',
    async () => {
      const program = start('program');
      const lines: string[] = [];
      program.stdin.write('one\n');
      for await (const line of program.stdout) {
        lines.push(line);
        if (line === 'got one') program.stdin.write('two\n');
        if (line === 'got two') program.stdin.end('three');
      }
      assert.is((await program.done).status, 0);
      return lines;
    },
  );
  assert.equal(conversation, ['got one', 'got two']);
});

test('lines can be read again after the end, also a last line without a newline', async () => {
  await withProgram('printf "a\\nb"; echo told >&2', async () => {
    const program = start('program');
    await program.done;
    for (const _ of [1, 2]) {
      const lines: string[] = [];
      for await (const line of program.stdout) lines.push(line);
      assert.equal(lines, ['a', 'b']);
    }
    assert.is(program.stderr(), 'told\n');
  });
});

test('a running program is stopped by a signal', async () => {
  await withProgram('echo ready; exec sleep 30', async () => {
    const program = start('program');
    for await (const _ of program.stdout) break;
    program.kill();
    assert.is((await program.done).signal, 'SIGTERM');
  });
});

test('a program that cannot be started is an error', async () => {
  const error = await shell('exit 0', { cwd: '/nowhere/at/all' }).catch((reason: Error) => reason);
  assert.match((error as Error).message, /ENOENT/);
});

test.run();
