/** Secrets while their writers are killed: every value opens, none is half written. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testStorm } from '@runner/testing/kill-storm';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const VALUES = ['old value of A, 1', 'new value of A, 2'] as const;
const DOTENV = Array.from({ length: 20 }, (_, at) => `B${at}="${'x'.repeat(2_000)}${at}"\n`).join(
  '',
);
const SET = ['set', 'shop', 'A', '--file', '-'];
const COMMANDS = [
  { tool: 'runner-env', args: SET, stdin: VALUES[0] },
  { tool: 'runner-env', args: SET, stdin: VALUES[1] },
  { tool: 'runner-env', args: ['import', 'shop'], stdin: DOTENV },
  { tool: 'runner-tokens', args: ['rekey'] },
] as const;

interface Listed {
  readonly name: string;
  readonly fingerprint: string;
}

async function list(root: string): Promise<readonly Listed[]> {
  const done = await run('runner-env', ['list', 'shop', '--json'], { root });
  assert.is(done.status, 0, done.stderr);
  return JSON.parse(done.stdout).secrets;
}

testStorm(test, 'set, import and rekey leave every secret whole', 200, async () => {
  const root = join(temporaryFolder('env-kills'), 'root');
  mkdirSync(join(root, 'state'), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, 'state/shop.json'), '{"repo":"acme/shop","branch":"main"}');
  const prints = new Set<string>();
  for (const stdin of VALUES) {
    await run('runner-env', SET, { root, stdin });
    for (const { fingerprint } of await list(root)) prints.add(fingerprint);
  }
  return {
    root,
    storm: {
      next: (time) => COMMANDS[time % COMMANDS.length] ?? COMMANDS[0],
      async check(_, time) {
        const secrets = await list(root);
        const a = secrets.find(({ name }) => name === 'A');
        assert.ok(a && prints.has(a.fingerprint), `after run ${time}`);
        const others = secrets.filter(({ name }) => name.startsWith('B')).length;
        assert.ok(others === 0 || others === 20, `${others} of 20 after run ${time}`);
      },
    },
    async close() {
      assert.is((await run('runner-tokens', ['rekey'], { root })).status, 0);
      await list(root);
      assert.not.match(readFileSync(join(root, 'secrets/shop.json'), 'utf8'), /value of A/);
    },
  };
});

test.run();
