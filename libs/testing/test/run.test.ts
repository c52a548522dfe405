import { cleanEnvironment, shell } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

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

test.run();
