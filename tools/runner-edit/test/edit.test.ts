import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  contentOf,
  edit,
  fingerprint,
  NEW,
  newRoot,
  plantState,
  stateOf,
  TOKEN,
  tokenOf,
} from './root.ts';

const CHANGED = `Changed shop (acme/shop, branch main, token ${fingerprint(NEW)})\n`;

const WARNING =
  'runner edit: warning: --token shows the token in the process list, use --token - or --token-file\n';

function tokenFile(text: string): string {
  const path = join(temporaryFolder('token'), 'token');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

for (const [how, args, stdin, stderr] of [
  ['standard input', ['--token', '-'], NEW, ''],
  ['standard input, with a newline', ['--token=-'], `${NEW}\n`, ''],
  ['a file', ['--token-file', tokenFile(`${NEW}\n`)], '', ''],
  ['the command line', ['--token', NEW], '', WARNING],
] as const) {
  test(`a new token comes from ${how}`, async () => {
    const root = await newRoot();
    const before = contentOf(root);
    const ended = await edit(root, ['shop', ...args], { stdin });
    assert.equal([ended.status, ended.stdout, ended.stderr], [0, CHANGED, stderr]);
    assert.is(tokenOf(root, 'shop'), NEW);
    assert.is(tokenOf(root, 'blog'), TOKEN);
    const { 'state/shop.json': _, ...rest } = contentOf(root);
    const { 'state/shop.json': __, ...others } = before;
    assert.equal(rest, others);
  });
}

test('branch and repository change alone or together, and the token stays', async () => {
  const root = await newRoot();
  const { repohost_token: sealed } = stateOf(root, 'shop').state as { repohost_token: string };
  for (const [args, repo, branch] of [
    [['--branch', 'release/v1'], 'acme/shop', 'release/v1'],
    [['--repo', 'other/store.git'], 'other/store', 'release/v1'],
    [['--branch=main', '--repo=acme/shop'], 'acme/shop', 'main'],
  ] as const) {
    const { status, stdout, stderr } = await edit(root, ['shop', ...args]);
    assert.equal([status, stdout, stderr], [0, `Changed shop (${repo}, branch ${branch})\n`, '']);
    const state = stateOf(root, 'shop');
    assert.equal(
      [state.repo, state.branch, state.state],
      [repo, branch, { repohost_token: sealed }],
    );
  }
});

test('--public removes the token, whatever RUNNER_TOKEN is, and keeps other fields', async () => {
  const root = await newRoot();
  const { state } = stateOf(root, 'shop') as { state: object };
  plantState(root, 'shop', { state: { ...state, later: 7 } });
  const ended = await edit(root, ['shop', '--public', '--branch', 'next'], {
    env: { RUNNER_TOKEN: NEW },
  });
  assert.equal(
    [ended.status, ended.stdout, ended.stderr],
    [0, 'Changed shop (acme/shop, branch next)\n', ''],
  );
  assert.equal(stateOf(root, 'shop').state, { later: 7 });
  assert.is((await edit(root, ['open', '--public'])).status, 0);
});

test.run();
