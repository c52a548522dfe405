import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exclusiveTokenOptions } from '@runner/testing/refusal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BLOG, refused } from './refusals.ts';
import { add, newRoot, SHOP, TOKEN } from './root.ts';

for (const [one, other, sentence] of exclusiveTokenOptions('shop')) {
  test(`${one} and ${other} exclude each other, in either order`, async () => {
    await refused([...BLOG, one, other], 2, sentence);
    await refused([other, ...BLOG, one], 2, sentence);
  });
}

for (const [args, sentence] of [
  [[], 'error: the following required arguments were not provided: <REPO>'],
  [
    BLOG,
    'error: the following required arguments were not provided: <--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public>',
  ],
  [
    [...BLOG, '--public', '--name', ''],
    "error: a value is required for '--name <NAME>' but none was supplied",
  ],
  [[...BLOG, '--token'], "error: a value is required for '--token <TOKEN>' but none was supplied"],
] as const) {
  test(`wrong usage: add ${args.join(' ')}`, () => refused(args, 2, sentence));
}

const RULE =
  "is not an app name: 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit, without '..' (name_invalid)";

for (const [name, shown] of [
  ['../x', "'../x'"],
  ['long-'.repeat(60), `'${'long-'.repeat(60).slice(0, 77)}…'`],
  ['a\u001b[31m\n', "'a\\x1b[31m\\n'"],
] as const) {
  test(`${JSON.stringify(name.slice(0, 20))} is not a valid name for an app`, () =>
    refused([...BLOG, '--public', `--name=${name}`], 1, `runner add: ${shown} ${RULE}`));
}

test('the name of the registry is reserved, also when a repository is called so', () =>
  refused(
    ['--repo', 'acme/registry', '--branch', 'main', '--public'],
    1,
    "runner add: 'registry' is reserved: give the app another name with --name (name_invalid)",
  ));

test('names that every object has are ordinary names', async () => {
  const root = newRoot();
  for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
    const ended = await add(root, [...BLOG, '--public', '--name', name]);
    assert.equal(
      [ended.status, ended.stdout, ended.stderr],
      [0, `Added ${name} (acme/blog, branch main, no token)\n`, ''],
    );
  }
});

test('a token file that is missing, a folder, or too large is named', async () => {
  const args = (file: string) => [...BLOG, '--token-file', file];
  await refused(args('/none/such'), 1, 'runner add: there is no file /none/such (file_unreadable)');
  await refused(args('/etc'), 1, 'runner add: /etc is a directory (file_unreadable)');
  await refused(
    args('/dev/zero'),
    1,
    'runner add: /dev/zero is larger than 65536 bytes (file_unreadable)',
  );
});

test('--token-from distinguishes an unknown app, even under an invalid name, from one without a token', async () => {
  for (const source of ['nope', '../shop', '__proto__', 'registry']) {
    await refused(
      [...BLOG, '--token-from', source],
      1,
      `runner add: there is no app called '${source}' to take the token from; registered: shop (token_source_not_found)`,
    );
  }
  await refused(
    [...BLOG, '--token-from', 'shop'],
    1,
    "runner add: the app 'shop' has no token (token_source_no_token)",
    {
      change: (root) =>
        writeFileSync(join(root, 'state/shop.json'), '{"repo":"acme/shop","branch":"main"}'),
    },
  );
});

test('--token-from refuses a token that cannot be decrypted', async () => {
  const state = (token: string) => (root: string) =>
    writeFileSync(
      join(root, 'state/shop.json'),
      JSON.stringify({ repo: 'acme/shop', branch: 'main', state: { repohost_token: token } }),
    );
  const args = [...BLOG, '--token-from', 'shop'];
  await refused(args, 1, "runner add: the stored token of 'shop' is damaged (token_corrupt)", {
    change: state('x.y.z'),
  });
  await refused(
    args,
    1,
    'runner add: the state file ROOT/state/shop.json is not JSON (state_malformed)',
    { change: (root) => writeFileSync(join(root, 'state/shop.json'), '{') },
  );
});

test('an invalid master key is reported without quoting it', async () => {
  const sentence =
    'runner add: ROOT/mkey does not contain 32-byte keys in base64url, one per line (mkey_malformed)';
  for (const text of ['secret-but-wrong', `${'A'.repeat(43)}\nx\n`]) {
    await refused([...BLOG, '--token', '-'], 1, sentence, {
      stdin: TOKEN,
      change: (root) => writeFileSync(join(root, 'mkey'), text),
    });
  }
});

test('wrong usage and wrong names make no root', async () => {
  const root = newRoot();
  for (const args of [[], BLOG, [...BLOG, '--name=-x', '--public'], [...BLOG, '--token', '-']]) {
    await add(root, args);
    assert.not.ok(existsSync(root), args.join(' '));
  }
});

test('a master key that others can read is refused, with the fixing command', async () => {
  for (const mode of [0o640, 0o604, 0o660]) {
    await refused(
      [...BLOG, '--token', '-'],
      1,
      'runner add: others may read the master key: run chmod 600 ROOT/mkey (mkey_exposed)',
      { stdin: TOKEN, change: (root) => chmodSync(join(root, 'mkey'), mode) },
    );
  }
});

test('an app that exists already is refused before a token is asked for or read', async () => {
  const sentence = "runner add: an app called 'shop' is registered already (app_exists)";
  await refused([...SHOP, '--token', '-'], 1, sentence, { stdin: TOKEN });
  await refused([...SHOP, '--token-file', '/none/such'], 1, sentence);
  await refused([...BLOG, '--name', 'shop', '--public'], 1, sentence);
  await refused([...SHOP, '--public'], 1, sentence, {
    change: (root) => writeFileSync(join(root, 'state/shop.json'), '{'),
  });
});

test.run();
