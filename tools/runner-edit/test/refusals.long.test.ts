import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exclusiveTokenOptions } from '@runner/testing/refusal';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refused } from './refusals.ts';
import { edit, NEW, newRoot } from './root.ts';

for (const [one, other, sentence] of exclusiveTokenOptions('blog')) {
  test(`${one} and ${other} exclude each other`, () => refused(['shop', one, other], 2, sentence));
}

test('a missing change is reported before the app is looked up, an unknown app before a token is read', async () => {
  const unknown = (app: string) =>
    `runner edit: no app called '${app}' is registered on this server; registered: blog, open, shop (app_not_found)`;
  await refused(['nope', '--token', '-'], 1, unknown('nope'), { stdin: NEW });
  await refused(['../shop', '--token-file', '/none/such'], 1, unknown('../shop'));
  await refused(['__proto__', '--branch', 'next'], 1, unknown('__proto__'));
});

test('a wrong repository or branch changes nothing, the token included', async () => {
  await refused(
    ['shop', '--repo=-a/b', '--token', '-'],
    1,
    "runner edit: '-a/b' is not a repository: give it as <owner>/<name> (name_invalid)",
    { stdin: NEW },
  );
  await refused(
    ['shop', '--branch=a..b', '--token', '-'],
    1,
    "runner edit: 'a..b' is not a valid branch name (name_invalid)",
    { stdin: NEW },
  );
});

test('a missing or invalid token file is named', async () => {
  await refused(
    ['shop', '--token-file', '/none/such'],
    1,
    'runner edit: there is no file /none/such (file_unreadable)',
  );
  await refused(
    ['shop', '--token-file', '/etc'],
    1,
    'runner edit: /etc is a directory (file_unreadable)',
  );
});

test('--token-from distinguishes an unknown app from one without a token', async () => {
  await refused(
    ['shop', '--token-from', 'nope'],
    1,
    "runner edit: there is no app called 'nope' to take the token from; registered: blog, open, shop (token_source_not_found)",
  );
  await refused(
    ['shop', '--token-from', 'open'],
    1,
    "runner edit: the app 'open' has no token (token_source_no_token)",
  );
});

test('a lost master key is reported, and no new one is made', async () => {
  const args = ['shop', '--token', '-'];
  await refused(
    args,
    1,
    'runner edit: there is no master key in ROOT/mkey: restore it from your backup (mkey_missing)',
    { stdin: NEW, change: (root) => rmSync(join(root, 'mkey')) },
  );
});

test('a damaged token does not prevent setting a new one', async () => {
  const root = await newRoot();
  writeFileSync(
    join(root, 'state/shop.json'),
    '{"repo":"acme/shop","branch":"main","state":{"repohost_token":"x.y.z"}}',
  );
  const { status, stderr } = await edit(root, ['shop', '--token', '-'], { stdin: NEW });
  assert.equal([status, stderr], [0, '']);
  assert.is((await run('runner-tokens', ['list'], { root })).status, 0);
});

test('a wrong token changes nothing, the branch included', () =>
  refused(
    ['shop', '--branch', 'next', '--token', '-'],
    1,
    'runner edit: the token has characters that no code host issues: spaces, line breaks or non-ASCII (token_invalid)',
    { stdin: 'two words' },
  ));

test.run();
