import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, executable, run, shell, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('a tool runs to its end with its output, status and time', async () => {
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
    'RUNNER_ROOT',
  ]);
  assert.match(stdout, 'RUNNER_ROOT=/the/root\n');
  assert.is.not(cleanEnvironment().HOME, process.env.HOME);
});

test('the built executables come first on PATH', async () => {
  const { stdout } = await shell('command -v runner');
  assert.is(stdout, `${executable('runner')}\n`);
});

test('stdin is what was given, and empty otherwise', async () => {
  assert.is((await shell('cat', { stdin: 'grüße\n' })).stdout, 'grüße\n');
  assert.is((await shell('cat')).stdout, '');
});

test('status and signal are told apart', async () => {
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

test('a program that does not end is killed with all its children, and what it said is told', async () => {
  const begun = performance.now();
  const error = await shell('echo before; sleep 61.25 & sleep 61.25', { timeout: 300 }).then(
    () => assert.unreachable(),
    (reason: Error) => reason,
  );
  assert.ok(performance.now() - begun < 5_000);
  assert.match((error as Error).message, /has not ended after 300 ms/);
  assert.match((error as Error).message, /before/);
  const left = await shell('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "');
  assert.not.match(left.stdout, 'sleep 61.25 sleep');
});

test('a daemon that keeps holding the output is not waited for for ever', async () => {
  const error = await shell('setsid sleep 2 & exit 0', { timeout: 300 }).catch((e: Error) => e);
  assert.match((error as Error).message, 'has ended, but its output is held');
});

test('a running program is read line by line and stopped', async () => {
  // `sh` is not ours: a tool of ours that waits is not needed to show this.
  const child = start('runner', ['--list']);
  const lines: string[] = [];
  for await (const line of child.stdout) lines.push(line);
  assert.ok(lines.includes('add'));
  assert.is((await child.done).status, 0);
  const again: string[] = [];
  for await (const line of child.stdout) again.push(line);
  assert.equal(again, lines);
});

test.run();
