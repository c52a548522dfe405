/**
 * No token is seen anywhere: output, files, command lines and environments of all processes, by
 * any command that handles tokens, when it succeeds and when it fails. The tokens: two shapes that
 * are known, and one that only care keeps out.
 */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCodeHost } from '@runner/testing/code-host';
import type { Fault } from '@runner/testing/faults';
import { watchProcesses } from '@runner/testing/proc-watch';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { findBytes, findSecret } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rootWith } from './rekey-root.ts';

const SECRETS = {
  classic: 'ghp_L3akL3akL3akL3akL3akL3akL3akL3akL3ak',
  fine: 'github_pat_11LEAKLEA0l3akl3akl3ak_qWeRtYuIoPaSdFgHjKlZxCvBnMqWeRtYuIoPaSdFgHjKlZxCvBnM12345',
  odd: 'no-Known/shape+of=a.token~with"quotes&and%percent',
} as const;

const ADD = ['--repo', 'acme/new', '--branch', 'main'] as const;
const config = (root: string) => join(root, 'config.yml');

interface Case {
  readonly name: string;
  readonly tool: string;
  readonly args: readonly string[];
  readonly status: number;
  readonly stdin?: 'token' | 'bad token';
  readonly env?: RunOptions['env'];
  readonly change?: (root: string) => void;
  readonly fault?: Fault;
}

const exposed = (root: string) => chmodSync(join(root, 'mkey'), 0o644);
const lost = (root: string) => rmSync(join(root, 'mkey'));
const malformed = (root: string) => writeFileSync(join(root, 'mkey'), 'x\n');
const stateless = (root: string) => writeFileSync(join(root, 'state/shop.json'), '{');
const lockless = (root: string) => {
  rmSync(join(root, 'locks'), { recursive: true, force: true });
  writeFileSync(join(root, 'locks'), '');
};
/** Sealed for another app. */
const swapped = (root: string) => {
  const text = (app: string) => join(root, 'state', `${app}.json`);
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const [shop, blog] = ['shop', 'blog'].map((app) => JSON.parse(readFileSync(text(app), 'utf8')));
  writeFileSync(text('shop'), JSON.stringify({ ...shop, state: blog.state }));
};

const TOKEN_COMMANDS: readonly Case[] = [
  { name: 'add', tool: 'runner-add', args: [...ADD, '--token', '-'], status: 0, stdin: 'token' },
  {
    name: 'add --ckey',
    tool: 'runner-add',
    args: [...ADD, '--ckey', '--token', '-'],
    status: 0,
    stdin: 'token',
  },
  {
    name: 'add --token-from',
    tool: 'runner-add',
    args: [...ADD, '--token-from', 'shop'],
    status: 0,
  },
  {
    name: 'add of an app that exists',
    tool: 'runner-add',
    args: [...ADD, '--name', 'shop', '--token', '-'],
    status: 1,
    stdin: 'token',
  },
  {
    name: 'add with a wrong token',
    tool: 'runner-add',
    args: [...ADD, '--token', '-'],
    status: 1,
    stdin: 'bad token',
  },
  {
    name: 'add with an exposed key',
    tool: 'runner-add',
    args: [...ADD, '--token', '-'],
    status: 1,
    stdin: 'token',
    change: exposed,
  },
  {
    name: 'add without its key',
    tool: 'runner-add',
    args: [...ADD, '--token', '-'],
    status: 1,
    stdin: 'token',
    change: lost,
  },
  {
    name: 'add where nothing can be locked',
    tool: 'runner-add',
    args: [...ADD, '--token', '-'],
    status: 1,
    stdin: 'token',
    change: lockless,
  },
  {
    name: 'add --token-from a swapped file',
    tool: 'runner-add',
    args: [...ADD, '--token-from', 'shop'],
    status: 1,
    change: swapped,
  },
  { name: 'edit', tool: 'runner-edit', args: ['blog', '--token', '-'], status: 0, stdin: 'token' },
  {
    name: 'edit --token-from',
    tool: 'runner-edit',
    args: ['blog', '--token-from', 'shop', '--ckey'],
    status: 0,
  },
  {
    name: 'edit of an unknown app',
    tool: 'runner-edit',
    args: ['nope', '--token', '-'],
    status: 1,
    stdin: 'token',
  },
  {
    name: 'edit with a wrong token',
    tool: 'runner-edit',
    args: ['blog', '--token', '-'],
    status: 1,
    stdin: 'bad token',
  },
  {
    name: 'edit with a malformed key',
    tool: 'runner-edit',
    args: ['blog', '--token', '-'],
    status: 1,
    stdin: 'token',
    change: malformed,
  },
  {
    name: 'edit of a damaged state',
    tool: 'runner-edit',
    args: ['shop', '--token', '-'],
    status: 1,
    stdin: 'token',
    change: stateless,
  },
  { name: 'edit --public', tool: 'runner-edit', args: ['shop', '--public'], status: 0 },
  { name: 'remove', tool: 'runner-remove', args: ['shop', '--yes'], status: 0 },
  { name: 'remove without --yes', tool: 'runner-remove', args: ['shop'], status: 2 },
  {
    name: 'remove of a damaged state',
    tool: 'runner-remove',
    args: ['shop', '--yes'],
    status: 1,
    change: stateless,
  },
  { name: 'tokens list', tool: 'runner-tokens', args: ['list'], status: 0 },
  {
    name: 'tokens list of a swapped file',
    tool: 'runner-tokens',
    args: ['list'],
    status: 1,
    change: swapped,
  },
  {
    name: 'tokens list without its key',
    tool: 'runner-tokens',
    args: ['list'],
    status: 1,
    change: lost,
  },
  { name: 'tokens rekey', tool: 'runner-tokens', args: ['rekey'], status: 0 },
  {
    name: 'tokens rekey --dry-run',
    tool: 'runner-tokens',
    args: ['rekey', '--dry-run'],
    status: 0,
  },
  {
    name: 'tokens rekey of a swapped file',
    tool: 'runner-tokens',
    args: ['rekey'],
    status: 1,
    change: swapped,
  },
  {
    name: 'tokens rekey without its key',
    tool: 'runner-tokens',
    args: ['rekey'],
    status: 1,
    change: lost,
  },
  { name: 'tokens test', tool: 'runner-tokens', args: ['test', 'shop'], status: 0 },
  {
    name: 'tokens test of a revoked token',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    fault: { status: 401, body: { message: 'Bad credentials' } },
  },
  {
    name: 'tokens test when the host is limited',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    fault: { status: 429, body: '' },
  },
  {
    name: 'tokens test when the host drops it',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    fault: 'drop',
  },
  {
    name: 'tokens test when a page comes',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    fault: 'html',
  },
  {
    name: 'tokens test when it is redirected',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    fault: { redirect: 'http://127.0.0.1:9' },
  },
  {
    name: 'tokens test where nobody listens',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    env: { RUNNER_CODE_HOST_API_URL: 'http://127.0.0.1:9' },
  },
  {
    name: 'tokens test through a wrong proxy',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    env: { HTTP_PROXY: 'http://[' },
  },
  {
    name: 'tokens test with a wrong configuration',
    tool: 'runner-tokens',
    args: ['test', 'shop'],
    status: 1,
    change: (root) => writeFileSync(config(root), 'code_host_api_url: ['),
  },
  { name: 'tokens test --all', tool: 'runner-tokens', args: ['test', '--all'], status: 0 },
  {
    name: 'tokens test --all of a revoked token',
    tool: 'runner-tokens',
    args: ['test', '--all'],
    status: 1,
    fault: { status: 401, body: { message: 'Bad credentials' } },
  },
];

function saidBy({ stdout, stderr }: Ended): string {
  return stdout + stderr;
}

for (const [shape, secret] of Object.entries(SECRETS)) {
  test(`a ${shape} token is nowhere to be seen, whatever becomes of ${TOKEN_COMMANDS.length} commands`, async () => {
    const host = await startCodeHost({ tokens: { [secret]: { login: 'octo', scopes: ['repo'] } } });
    const odd = `${secret} with a space`;
    const { sightings, rounds } = await watchProcesses([secret], async () => {
      for (const each of TOKEN_COMMANDS) {
        const root = rootWith({ blog: secret, shop: secret });
        writeFileSync(config(root), `code_host_api_url: ${host.apiUrl}\n`, { mode: 0o600 });
        each.change?.(root);
        if (each.fault) host.fail(each.fault, 1);
        const stdin = each.stdin === undefined ? '' : each.stdin === 'token' ? secret : odd;
        const format = shape === 'fine' ? ['--json'] : shape === 'odd' ? ['-o', 'yaml'] : [];
        const options: RunOptions = { root, stdin, ...(each.env && { env: each.env }) };
        const ended = await run(each.tool, [...each.args, ...format], options);
        assert.is(ended.status, each.status, `${each.name}: ${saidBy(ended)}`);
        assert.equal(findSecret(saidBy(ended), secret), [], each.name);
        assert.equal(findBytes(root, secret), [], each.name);
        assert.not.ok(/bug in runner|\n {4}at /.test(ended.stderr), ended.stderr);
      }
    });
    await host.close();
    assert.ok(rounds > 20);
    assert.equal(sightings, []);
  });
}

test('a token that cannot be used as one is not repeated, wherever it comes from', async () => {
  const root = rootWith({ shop: 'some-token' });
  const folder = temporaryFolder('token');
  const file = join(folder, 'token');
  for (const secret of Object.values(SECRETS)) {
    for (const wrong of [`${secret} x`, `${secret}\nx`, `é${secret}`, secret.repeat(200)]) {
      writeFileSync(file, wrong);
      for (const [args, options] of [
        [['--token', wrong], {}],
        [['--token-file', file], {}],
        [['--token', '-'], { stdin: wrong }],
        [[], { env: { RUNNER_TOKEN: wrong } }],
      ] as const) {
        const ended = await run('runner-add', [...ADD, ...args, '--json'], { root, ...options });
        assert.is(ended.status, 1);
        assert.is(JSON.parse(ended.stdout).error, 'token_invalid');
        assert.equal(findSecret(saidBy(ended), secret), []);
      }
    }
  }
  assert.equal(existsSync(join(root, 'state/new.json')), false);
});

test('wrong usage does not repeat a token, wherever it stands on the command line', async () => {
  const root = join(temporaryFolder('tokens'), 'root');
  mkdirSync(root);
  const { classic, odd } = SECRETS;
  for (const [tool, args] of [
    ['runner-add', ['--token', classic, '--token', classic, ...ADD]],
    ['runner-add', ['--token', odd, '--public', ...ADD]],
    ['runner-add', [`--token=${odd}`, '--token-from', 'shop', ...ADD]],
    ['runner-add', [...ADD, classic]],
    ['runner-edit', ['shop', '--token', odd, '--public']],
    ['runner-edit', ['shop', classic]],
    ['runner-tokens', ['test', classic, '--all']],
  ] as const) {
    const ended = await run(tool, [...args, '--json'], { root });
    assert.is(ended.status, 2);
    for (const secret of [classic, odd]) {
      assert.equal(findSecret(saidBy(ended), secret), [], `${tool} ${saidBy(ended)}`);
    }
  }
});

test.run();
