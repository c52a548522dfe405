/** Secrets while their writers are killed: every value opens, none is half written. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, executable, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const KILLS = 200;
/** Longest life of a command before it is killed, in milliseconds. */
const LIFE = 160;

test('200 kills of set, import and rekey leave every secret whole', async () => {
  const root = join(temporaryFolder('env-kills'), 'root');
  mkdirSync(join(root, 'state'), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, 'state/shop.json'), '{"repo":"acme/shop","branch":"main"}');
  const values = ['old value of A, 1', 'new value of A, 2'];
  const list = async () => {
    const done = await run('runner-env', ['list', 'shop', '--json'], { root });
    assert.is(done.status, 0, done.stderr);
    return JSON.parse(done.stdout).secrets as { name: string; fingerprint: string }[];
  };
  const prints = new Set<string>();
  for (const value of values) {
    await run('runner-env', ['set', 'shop', 'A', '--file', '-'], { root, stdin: value });
    for (const { fingerprint } of await list()) prints.add(fingerprint);
  }
  const dotenv = Array.from({ length: 20 }, (_, at) => `B${at}="${'x'.repeat(2_000)}${at}"\n`).join(
    '',
  );
  const commands = [
    ['runner-env', ['set', 'shop', 'A', '--file', '-'], values[0]],
    ['runner-env', ['set', 'shop', 'A', '--file', '-'], values[1]],
    ['runner-env', ['import', 'shop'], dotenv],
    ['runner-tokens', ['rekey'], ''],
  ] as const;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [tool, args, stdin] = commands[kill % commands.length] ?? commands[0];
    const child = spawn(executable(tool), args, {
      env: cleanEnvironment({ root }),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), (kill * LIFE) / KILLS + (kill % 7));
    await ended;
    clearTimeout(timer);
    const secrets = await list();
    const a = secrets.find(({ name }) => name === 'A');
    assert.ok(a && prints.has(a.fingerprint), `after kill ${kill}`);
    const others = secrets.filter(({ name }) => name.startsWith('B')).length;
    assert.ok(others === 0 || others === 20, `${others} of 20 after kill ${kill}`);
  }
  assert.is((await run('runner-tokens', ['rekey'], { root })).status, 0);
  await list();
  assert.not.match(readFileSync(join(root, 'secrets/shop.json'), 'utf8'), /value of A/);
});

test.run();
