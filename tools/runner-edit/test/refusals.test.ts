import { rmSync, writeFileSync } from 'node:fs';
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
  { stdin = '', change }: { stdin?: string; change?(root: string): void } = {},
): Promise<void> {
  const root = await newRoot();
  change?.(root);
  const wanted = refusal(status, sentence.replaceAll('ROOT', root));
  assert.equal(await refusalBy('runner-edit', args, { root, stdin }), wanted);
}

for (const [one, other, sentence] of exclusiveTokenOptions('blog')) {
  test(`${one} and ${other} exclude each other`, () => refused(['shop', one, other], 2, sentence));
}

const REQUIRED = 'error: the following required arguments were not provided:';
for (const [args, sentence] of [
  [[], `${REQUIRED} <APP>; usage: runner edit [OPTIONS] <APP>`],
  [['--branch', 'next'], `${REQUIRED} <APP>; usage: runner edit [OPTIONS] <APP>`],
  [
    ['shop'],
    `${REQUIRED} <--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public|--repo <OWNER/NAME>|--branch <BRANCH>|--tags <PATTERN>|--semver <RANGE>|--paths <PATHS>|--require-checks <CHECKS>|--require-signed <head|strict|off>|--deploy-file <FILE>>`,
  ],
  [
    ['shop', '--ckey', '--branch', 'next'],
    `${REQUIRED} <--token <TOKEN>|--token-file <FILE>|--token-from <APP>>`,
  ],
  ...['all,build', 'none,build', 'build,,test'].map(
    (checks) =>
      [
        ['shop', '--require-checks', checks],
        `error: invalid value '${checks}' for '--require-checks <CHECKS>': give all, none, or names separated by commas`,
      ] as const,
  ),
] as const) {
  test(`wrong usage: edit ${args.join(' ')}`, () => refused(args, 2, sentence));
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

test('a wrong token changes nothing, the branch included', () =>
  refused(
    ['shop', '--branch', 'next', '--token', '-'],
    1,
    'runner edit: the token has characters that no code host issues: spaces, line breaks or non-ASCII (token_invalid)',
    { stdin: 'two words' },
  ));

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

test('a damaged state file is reported and left as it is', () =>
  refused(
    ['shop', '--branch', 'next'],
    1,
    'runner edit: the state file ROOT/state/shop.json is not JSON (state_malformed)',
    { change: (root) => writeFileSync(join(root, 'state/shop.json'), '{') },
  ));

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

test.run();
