/** A command line that is wrong never quotes a word that could be a token. */
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { executable, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** Of no shape that is known. */
const TOKENS = [
  'q7Rk2mZx9LpW4vNc8TjYbH3s',
  'plainapptoken-QQQQ-1234',
  '0f3c9a7be15d2468ace013579bdf2468ace01357',
];
const ADD = ['runner-add', '--repo', 'acme/shop', '--branch', 'main'];

const LINES: readonly ((token: string) => readonly string[])[] = [
  (token) => [...ADD, token],
  (token) => [...ADD, token, token],
  (token) => [...ADD, '--token-file', token],
  (token) => [...ADD, '--token-from', token],
  (token) => ['runner-add', '--repo', 'acme/shop', '--branch', `${token}..`, '--token', '-'],
  (token) => ['runner-add', '--repo', token, '--branch', 'main', '--token', '-'],
  (token) => ['runner-deploy', 'shop', token],
  (token) => ['runner-deploy', token],
  (token) => ['runner-edit', 'shop', token],
  (token) => ['runner-edit', token, '--token', '-'],
  (token) => ['runner-tokens', token],
  (token) => ['runner-tokens', 'test', token],
  (token) => ['runner-status', token, '--json'],
  (token) => ['runner-notify', 'setup', '--channel', token],
  (token) => [
    'runner-notify',
    'setup',
    '--channel',
    'discord',
    '--webhook-file',
    `https://chat.example/h/${token}`,
  ],
  (token) => ['runner-debug', 'log', 'shop', '--deploy', `x${token}`, '-o', 'yaml'],
  (token) => ['runner-fetch', '--jobs', token],
  (token) => ['runner-edit', 'shop', `-t${token}`],
  (token) => ['runner-edit', 'shop', `--token${token}`],
  (token) => ['runner', token],
  (token) => ['runner', `-${token}`],
  (token) => ['runner', `--token${token}`, 'list'],
];

test('no mistyped line quotes what could be a token', async () => {
  const root = join(temporaryFolder('mistyped'), 'root');
  const added = await run('runner-add', [...ADD.slice(1), '--token', '-'], {
    root,
    stdin: 'a-token',
  });
  assert.is(added.status, 0, added.stderr);
  const [first = '', ...others] = TOKENS;
  const pairs = LINES.map((line) => [line, first] as const).concat(
    others.flatMap((token) => LINES.slice(0, 3).map((line) => [line, token] as const)),
  );
  for (const [line, token] of pairs) {
    const [tool = '', ...args] = line(token);
    const done = await run(tool, args, { root, stdin: '' });
    assert.is.not(done.status, 0, `${tool} ${args.join(' ')}`);
    for (const piece of [token.slice(0, 10), token.slice(-10)])
      assert.not.ok((done.stdout + done.stderr).includes(piece), `${tool}: ${done.stderr}`);
  }
});

test('env set quotes no value from the command line, and says how it is read', async () => {
  const root = join(temporaryFolder('mistyped'), 'root');
  const added = await run('runner-add', [...ADD.slice(1), '--token', '-'], {
    root,
    stdin: 'a-token',
  });
  assert.is(added.status, 0, added.stderr);
  const set = async (...words: string[]) => {
    const { status, stdout, stderr } = await run('runner-env', ['set', 'shop', ...words], { root });
    return [status, stdout, stderr];
  };
  assert.equal(await set('DB', 'hunter2'), [
    2,
    '',
    'error: no value is taken from the command line, where other users can see it: it is asked for, or read with --file\n',
  ]);
  assert.equal(await set('DB=hunter2'), [
    2,
    '',
    "error: invalid value for '<NAME>': give only the name; the value is read without being shown\n",
  ]);
});

test('names, paths and commits that are wrong are quoted', async () => {
  const root = join(temporaryFolder('mistyped'), 'root');
  const shown = async (tool: string, ...args: string[]) => (await run(tool, args, { root })).stderr;
  assert.match(await shown('runner-status', 'shop-frontend-v2'), /'shop-frontend-v2'/);
  assert.match(
    await shown('runner-add', ...ADD.slice(1), '--token-file', '/none/github2024token'),
    /github2024token/,
  );
});

test('an executable without the rest of runner still reports errors, with the same status', () => {
  const alone = join(temporaryFolder('alone'), 'runner-list');
  cpSync(executable('runner-list'), alone);
  const { status, stdout, stderr } = spawnSync(process.execPath, [alone, TOKENS[0] ?? ''], {
    encoding: 'utf8',
  });
  assert.equal(
    [status, stdout, stderr],
    [2, '', 'runner-list: failed (usage); install runner again to see why: a file is missing\n'],
  );
});

test('the report of a mistyped word with a quote is still JSON', async () => {
  const root = temporaryFolder('mistyped');
  const args = ['queue', 'drop', `"${TOKENS[0]}`, '--json'];
  const { status, stdout, stderr } = await run('runner-notify', args, { root });
  assert.equal([status, JSON.parse(stdout).error], [1, 'message_not_found'], stderr);
  assert.not.ok((stdout + stderr).includes((TOKENS[0] as string).slice(-10)));
});

test.run();
