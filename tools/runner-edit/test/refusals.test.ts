import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exclusiveTokenOptions, refusal, refusalBy } from '@runner/testing/refusal';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { edit, NEW, newRoot } from './root.ts';

/** Told with and without --json; the refusal must leave everything as it was. */
async function refused(
  args: readonly string[],
  status: number,
  sentence: string,
  stdin = '',
  change: (root: string) => void = () => {},
): Promise<void> {
  const root = await newRoot();
  change(root);
  const wanted = refusal(status, sentence.replaceAll('ROOT', root));
  assert.equal(await refusalBy('runner-edit', args, { root, stdin }), wanted);
}

for (const [one, other, sentence] of exclusiveTokenOptions('blog')) {
  test(`${one} and ${other} exclude each other, in either order`, async () => {
    await refused(['shop', one, other], 2, sentence);
    await refused([other, 'shop', one], 2, sentence);
  });
}

const REQUIRED = 'error: the following required arguments were not provided:';
for (const [args, sentence] of [
  [[], `${REQUIRED} <APP>; usage: runner edit [OPTIONS] <APP>`],
  [['--branch', 'next'], `${REQUIRED} <APP>; usage: runner edit [OPTIONS] <APP>`],
  [
    ['shop'],
    `${REQUIRED} <--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public|--repo <OWNER/NAME>|--branch <BRANCH>>`,
  ],
  [
    ['shop', '--ckey', '--branch', 'next'],
    `${REQUIRED} <--token <TOKEN>|--token-file <FILE>|--token-from <APP>>`,
  ],
  [['shop', 'blog', '--public'], "error: unexpected argument 'blog' found"],
  [['shop', '--token'], "error: a value is required for '--token <TOKEN>' but none was supplied"],
  [
    ['shop', '--branch', ''],
    "error: a value is required for '--branch <BRANCH>' but none was supplied",
  ],
  [
    ['shop', '--branche', 'x'],
    "error: unexpected argument '--branche' found; a similar argument exists: '--branch'",
  ],
] as const) {
  test(`wrong usage: edit ${args.join(' ')}`, () => refused(args, 2, sentence));
}

test('nothing given is told before the app is looked for, an unknown app before a token is read', async () => {
  const unknown = (app: string) =>
    `runner edit: no app called '${app}' is registered on this server; registered: blog, open, shop (app_not_found)`;
  await refused(['nope', '--token', '-'], 1, unknown('nope'), NEW);
  await refused(['../shop', '--token-file', '/none/such'], 1, unknown('../shop'));
  await refused(['__proto__', '--branch', 'next'], 1, unknown('__proto__'));
});

for (const repo of ['acme', '-a/b', 'a/b/c', 'https://x/a/b']) {
  test(`${repo} is no repository`, () =>
    refused(
      ['shop', `--repo=${repo}`, '--token', '-'],
      1,
      `runner edit: '${repo}' is not a repository: give it as <owner>/<name> (name_invalid)`,
      NEW,
    ));
}

for (const branch of ['-x', 'a..b', 'a b', 'a.lock']) {
  test(`${branch} is no branch`, () =>
    refused(
      ['shop', `--branch=${branch}`, '--token', '-'],
      1,
      `runner edit: '${branch}' is not a valid branch name (name_invalid)`,
      NEW,
    ));
}

const ODD =
  'runner edit: the token has characters that no code host issues: spaces, line breaks or non-ASCII (token_invalid)';
for (const [token, sentence] of [
  ['', 'runner edit: the token is empty (token_invalid)'],
  ['two words', ODD],
  ['two\nlines', ODD],
  ['Ünicode', ODD],
  ['x'.repeat(4097), 'runner edit: the token is longer than 4096 characters (token_invalid)'],
] as const) {
  test(`${JSON.stringify(token.slice(0, 12))} is no token, and the branch stays as well`, () =>
    refused(['shop', '--branch', 'next', '--token', '-'], 1, sentence, token));
}

test('a token file that is missing or none is named', async () => {
  await refused(
    ['shop', '--token-file', '/none/such'],
    1,
    'runner edit: there is no token file /none/such (file_unreadable)',
  );
  await refused(
    ['shop', '--token-file', '/etc'],
    1,
    'runner edit: cannot read /etc: it is not a file (file_unreadable)',
  );
});

test('--token-from tells an unknown app from one without a token', async () => {
  await refused(
    ['shop', '--token-from', 'nope'],
    1,
    "runner edit: there is no app called 'nope' to take the token from (token_source_not_found)",
  );
  await refused(
    ['shop', '--token-from', 'open'],
    1,
    "runner edit: the app 'open' has no token (token_source_no_token)",
  );
});

test('a lost, exposed or malformed master key is told, and no new one is made', async () => {
  const args = ['shop', '--token', '-'];
  await refused(
    args,
    1,
    'runner edit: there is no master key in ROOT/mkey: restore it from your backup (mkey_missing)',
    NEW,
    (root) => rmSync(join(root, 'mkey')),
  );
  await refused(
    args,
    1,
    'runner edit: others may read the master key: run chmod 600 ROOT/mkey (mkey_exposed)',
    NEW,
    (root) => chmodSync(join(root, 'mkey'), 0o644),
  );
  await refused(
    args,
    1,
    'runner edit: ROOT/mkey does not hold 32-byte keys in base64url, one per line (mkey_malformed)',
    NEW,
    (root) => writeFileSync(join(root, 'mkey'), 'nonsense\n'),
  );
});

test('a damaged state file is told and left as it is', () =>
  refused(
    ['shop', '--branch', 'next'],
    1,
    'runner edit: the state file ROOT/state/shop.json is not JSON (state_malformed)',
    '',
    (root) => writeFileSync(join(root, 'state/shop.json'), '{'),
  ));

test('a damaged token is no reason not to set a new one', async () => {
  const root = await newRoot();
  writeFileSync(
    join(root, 'state/shop.json'),
    '{"repo":"acme/shop","branch":"main","state":{"repohost_token":"x.y.z"}}',
  );
  const { status, stderr } = await edit(root, ['shop', '--token', '-'], { stdin: NEW });
  assert.equal([status, stderr], [0, '']);
  assert.is((await run('runner-tokens', ['list'], { root })).status, 0);
});

test.run();
