/**
 * No token is seen anywhere: output, files, command lines and environments of all processes, by
 * any command that handles tokens, when it succeeds and when it fails. The token has no known shape,
 * so no redactor helps.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** Of this process alone: another test that runs meanwhile must not show them. */
const OWN = String(process.pid).padStart(8, '0');
const SECRET = `no-Known/shape+of=a.token~with"quotes&and%percent${OWN}`;

/** Of a known shape: where a token is not expected, only that is redacted. */
const KNOWN = `ghp_L3akL3akL3akL3akL3akL3akL3ak${OWN}`;

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
  const [shop, blog] = ['shop', 'blog'].map((app) => JSON.parse(readFileSync(text(app), 'utf8')));
  writeFileSync(text('shop'), JSON.stringify({ ...shop, state: blog.state }));
};

/** A call of a tool, what it ends with, and what is wrong meanwhile. */
const on = (
  tool: 'add' | 'edit' | 'remove' | 'tokens',
  name: string,
  args: readonly string[],
  rest: Omit<Case, 'name' | 'tool' | 'args'>,
): Case => ({ name, tool: `runner-${tool}`, args, ...rest });

const TOKEN_COMMANDS: readonly Case[] = [
  on('add', 'add', [...ADD, '--token', '-'], { status: 0, stdin: 'token' }),
  on('add', 'add --ckey', [...ADD, '--ckey', '--token', '-'], { status: 0, stdin: 'token' }),
  on('add', 'add --token-from', [...ADD, '--token-from', 'shop'], { status: 0 }),
  on('add', 'add of an app that exists', [...ADD, '--name', 'shop', '--token', '-'], {
    status: 1,
    stdin: 'token',
  }),
  on('add', 'add with a wrong token', [...ADD, '--token', '-'], { status: 1, stdin: 'bad token' }),
  on('add', 'add with an exposed key', [...ADD, '--token', '-'], {
    status: 1,
    stdin: 'token',
    change: exposed,
  }),
  on('add', 'add without its key', [...ADD, '--token', '-'], {
    status: 1,
    stdin: 'token',
    change: lost,
  }),
  on('add', 'add where nothing can be locked', [...ADD, '--token', '-'], {
    status: 1,
    stdin: 'token',
    change: lockless,
  }),
  on('add', 'add --token-from a swapped file', [...ADD, '--token-from', 'shop'], {
    status: 1,
    change: swapped,
  }),
  on('edit', 'edit', ['blog', '--token', '-'], { status: 0, stdin: 'token' }),
  on('edit', 'edit --token-from', ['blog', '--token-from', 'shop', '--ckey'], { status: 0 }),
  on('edit', 'edit of an unknown app', ['nope', '--token', '-'], { status: 1, stdin: 'token' }),
  on('edit', 'edit with a wrong token', ['blog', '--token', '-'], {
    status: 1,
    stdin: 'bad token',
  }),
  on('edit', 'edit with a malformed key', ['blog', '--token', '-'], {
    status: 1,
    stdin: 'token',
    change: malformed,
  }),
  on('edit', 'edit of a damaged state', ['shop', '--token', '-'], {
    status: 1,
    stdin: 'token',
    change: stateless,
  }),
  on('edit', 'edit --public', ['shop', '--public'], { status: 0 }),
  on('remove', 'remove', ['shop', '--yes'], { status: 0 }),
  on('remove', 'remove without --yes', ['shop'], { status: 2 }),
  on('remove', 'remove of a damaged state', ['shop', '--yes'], { status: 1, change: stateless }),
  on('tokens', 'tokens list', ['list'], { status: 0 }),
  on('tokens', 'tokens list of a swapped file', ['list'], { status: 1, change: swapped }),
  on('tokens', 'tokens list without its key', ['list'], { status: 1, change: lost }),
  on('tokens', 'tokens rekey', ['rekey'], { status: 0 }),
  on('tokens', 'tokens rekey --dry-run', ['rekey', '--dry-run'], { status: 0 }),
  on('tokens', 'tokens rekey of a swapped file', ['rekey'], { status: 1, change: swapped }),
  on('tokens', 'tokens rekey without its key', ['rekey'], { status: 1, change: lost }),
  on('tokens', 'tokens test', ['test', 'shop'], { status: 0 }),
  on('tokens', 'tokens test of a revoked token', ['test', 'shop'], {
    status: 1,
    fault: { status: 401, body: { message: 'Bad credentials' } },
  }),
  on('tokens', 'tokens test when the host is limited', ['test', 'shop'], {
    status: 1,
    fault: { status: 429, body: '' },
  }),
  on('tokens', 'tokens test when the host drops it', ['test', 'shop'], {
    status: 1,
    fault: 'drop',
  }),
  on('tokens', 'tokens test when a page comes', ['test', 'shop'], { status: 1, fault: 'html' }),
  on('tokens', 'tokens test when it is redirected', ['test', 'shop'], {
    status: 1,
    fault: { redirect: 'http://127.0.0.1:9' },
  }),
  on('tokens', 'tokens test where nobody listens', ['test', 'shop'], {
    status: 1,
    env: { RUNNER_CODE_HOST_API_URL: 'http://127.0.0.1:9' },
  }),
  on('tokens', 'tokens test through a wrong proxy', ['test', 'shop'], {
    status: 1,
    env: { HTTP_PROXY: 'http://[' },
  }),
  on('tokens', 'tokens test with a wrong configuration', ['test', 'shop'], {
    status: 1,
    change: (root) => writeFileSync(config(root), 'code_host_api_url: ['),
  }),
  on('tokens', 'tokens test --all', ['test', '--all'], { status: 0 }),
  on('tokens', 'tokens test --all of a revoked token', ['test', '--all'], {
    status: 1,
    fault: { status: 401, body: { message: 'Bad credentials' } },
  }),
];

function saidBy({ stdout, stderr }: Ended): string {
  return stdout + stderr;
}

test(`a token is nowhere to be seen, whatever becomes of ${TOKEN_COMMANDS.length} commands`, async () => {
  const host = await startCodeHost({ tokens: { [SECRET]: { login: 'octo', scopes: ['repo'] } } });
  const { sightings, rounds } = await watchProcesses([SECRET], async () => {
    for (const each of TOKEN_COMMANDS) {
      const root = rootWith({ blog: SECRET, shop: SECRET });
      writeFileSync(config(root), `code_host_api_url: ${host.apiUrl}\n`, { mode: 0o600 });
      each.change?.(root);
      if (each.fault) host.fail(each.fault, 1);
      const stdin =
        each.stdin === undefined ? '' : each.stdin === 'token' ? SECRET : `${SECRET} with a space`;
      const options: RunOptions = { root, stdin, ...(each.env && { env: each.env }) };
      const ended = await run(each.tool, [...each.args, '--json'], options);
      assert.is(ended.status, each.status, `${each.name}: ${saidBy(ended)}`);
      assert.equal(findSecret(saidBy(ended), SECRET), [], each.name);
      assert.equal(findBytes(root, SECRET), [], each.name);
      assert.not.ok(/bug in runner|\n {4}at /.test(ended.stderr), ended.stderr);
    }
  });
  await host.close();
  assert.ok(rounds > 20);
  assert.equal(sightings, []);
});

test('a token that cannot be used as one is not repeated, wherever it comes from', async () => {
  const root = rootWith({ shop: 'some-token' });
  const file = join(temporaryFolder('token'), 'token');
  for (const wrong of [`${SECRET} x`, `é${SECRET}`, SECRET.repeat(200)]) {
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
      assert.equal(findSecret(saidBy(ended), SECRET), []);
    }
  }
  assert.equal(existsSync(join(root, 'state/new.json')), false);
});

test('wrong usage does not repeat a token, wherever it stands on the command line', async () => {
  const root = join(temporaryFolder('tokens'), 'root');
  mkdirSync(root);
  for (const [tool, args] of [
    ['runner-add', ['--token', SECRET, '--token', SECRET, ...ADD]],
    ['runner-add', ['--token', SECRET, '--public', ...ADD]],
    ['runner-add', [`--token=${SECRET}`, '--token-from', 'shop', ...ADD]],
    ['runner-add', [...ADD, KNOWN]],
    ['runner-edit', ['shop', '--token', SECRET, '--public']],
    ['runner-edit', ['shop', KNOWN]],
    ['runner-tokens', ['test', KNOWN, '--all']],
  ] as const) {
    const ended = await run(tool, [...args, '--json'], { root });
    assert.is(ended.status, 2);
    for (const secret of [SECRET, KNOWN])
      assert.equal(findSecret(saidBy(ended), secret), [], `${tool} ${saidBy(ended)}`);
  }
});

test.run();
