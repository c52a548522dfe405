import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchProcesses } from '@runner/testing/proc-watch';
import { shell, start } from '@runner/testing/run';
import { findBytes, findSecret } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newRoot, register, SHOP, TOKEN } from './root.ts';

const BLOG = ['--repo', 'acme/blog', '--branch', 'main'];

/** Every way of giving a token, and refusals of each. */
function ways(file: string): { args: string[]; stdin?: string; env?: Record<string, string> }[] {
  return [
    { args: [...BLOG, '--token', '-'], stdin: TOKEN },
    { args: [...BLOG, '--token', '-', '--json', '--ckey'], stdin: TOKEN },
    { args: [...BLOG, '--token-file', file, '-o', 'yaml'] },
    { args: [...BLOG], env: { RUNNER_TOKEN: TOKEN } },
    { args: [...BLOG, '--token-from', 'shop'] },
    // Refusals.
    { args: [...SHOP, '--token', '-'], stdin: TOKEN },
    { args: [...BLOG, '--token', '-'], stdin: `${TOKEN} ${TOKEN}` },
    { args: [...BLOG, '--token', '-', '--json'], stdin: `${TOKEN}\n${TOKEN}\n` },
    { args: [...BLOG, '--token-from', 'shop', '--name', '../x'] },
    { args: ['--repo', 'nonsense', '--branch', 'main'], env: { RUNNER_TOKEN: TOKEN } },
  ];
}

test('the token is in no output, file, argument or environment but the given one', async () => {
  const file = join(temporaryFolder('token'), 'token');
  writeFileSync(file, TOKEN);
  for (const { args, ...options } of ways(file)) {
    const root = newRoot();
    await register(root, 'shop');
    const { value, sightings, rounds } = await watchProcesses([TOKEN], async (watch) => {
      const running = start('runner-add', args, { stdin: '', root, ...options });
      // RUNNER_TOKEN stands in the environment that it was given; nobody may inherit it.
      if (options.env) watch.except(running.pid);
      return running.done;
    });
    assert.ok(rounds > 0);
    // Before it becomes another program, a child of the tool is a copy of it.
    const others = sightings.filter(({ command }) => !options.env || command !== 'node');
    assert.equal(others, [], args.join(' '));
    assert.equal(findSecret(value.stdout + value.stderr, TOKEN), [], args.join(' '));
    assert.equal(findBytes(root, TOKEN), [], args.join(' '));
  }
});

test('the program that takes the lock does not inherit RUNNER_TOKEN', async () => {
  const root = newRoot();
  await register(root, 'shop');
  const held = shell('flock locks/registry.lock sleep 1', { cwd: root });
  const { value, sightings } = await watchProcesses([TOKEN], async (watch) => {
    const running = start('runner-add', BLOG, { stdin: '', root, env: { RUNNER_TOKEN: TOKEN } });
    watch.except(running.pid);
    return running.done;
  });
  await held;
  assert.equal([value.status, value.stderr], [0, '']);
  assert.equal(
    sightings.filter(({ command }) => command !== 'node'),
    [],
  );
});

test('wrong usage never repeats a token of the command line', async () => {
  for (const args of [
    [...BLOG, '--token', TOKEN, '--public'],
    [...BLOG, '--token', TOKEN, '--token-from', 'shop', '--json'],
    [...BLOG, '--token', TOKEN, '--token', TOKEN],
    [`--token=${TOKEN}`],
    [...BLOG, '--token', `${TOKEN} ${TOKEN}`],
  ]) {
    const { status, stdout, stderr } = await start('runner-add', args, {
      root: newRoot(),
      stdin: '',
    }).done;
    assert.is.not(status, 0);
    assert.equal(findSecret(stdout + stderr, TOKEN), [], args.join(' '));
  }
});

test('the master key is in no output and in no other file', async () => {
  const root = newRoot();
  await register(root, 'shop');
  const key = readFileSync(join(root, 'mkey'), 'utf8').trim();
  const args = [...BLOG, '--token-from', 'shop', '--json'];
  const { stdout, stderr } = await start('runner-add', args, { root, stdin: '' }).done;
  assert.equal(findSecret(stdout + stderr, key), []);
  assert.equal(findBytes(root, key), ['mkey: raw']);
});

test.run();
