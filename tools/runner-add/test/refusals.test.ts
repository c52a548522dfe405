import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import { BLOG, refused } from './refusals.ts';
import { TOKEN } from './root.ts';

for (const repo of ['acme', '-a/b']) {
  test(`${repo} is not a repository`, () =>
    refused(
      [`--repo=${repo}`, '--branch', 'main', '--public'],
      1,
      `runner add: '${repo}' is not a repository: give it as <owner>/<name> (name_invalid)`,
    ));
}

for (const branch of ['-x', 'a..b']) {
  test(`${branch} is not a branch`, () =>
    refused(
      ['--repo', 'acme/blog', `--branch=${branch}`, '--public'],
      1,
      `runner add: '${branch}' is not a valid branch name (name_invalid)`,
    ));
}

const NO_TOKEN =
  'runner add: the token has characters that no code host issues: spaces, line breaks or non-ASCII (token_invalid)';

for (const [token, sentence] of [
  ['', 'runner add: the token is empty (token_invalid)'],
  ['two words', NO_TOKEN],
  ['x'.repeat(4097), 'runner add: the token is longer than 4096 characters (token_invalid)'],
  ['x'.repeat(70_000), 'runner add: the token is larger than 65536 bytes (file_unreadable)'],
] as const) {
  test(`${JSON.stringify(token.slice(0, 12))} on standard input is not a token`, () =>
    refused([...BLOG, '--token', '-'], 1, sentence, { stdin: token }));
}

test('a lost master key is never replaced by a new one while tokens are stored', async () => {
  const lost = (root: string) => rmSync(join(root, 'mkey'));
  const sentence =
    'runner add: there is no master key in ROOT/mkey: restore it from your backup (mkey_missing)';
  await refused([...BLOG, '--token', '-'], 1, sentence, { stdin: TOKEN, change: lost });
  await refused([...BLOG, '--token-from', 'shop'], 1, sentence, { change: lost });
  await refused([...BLOG, '--token', '-'], 1, sentence, {
    stdin: TOKEN,
    change: (root) => {
      // Nobody knows what an unreadable state file holds.
      writeFileSync(join(root, 'state/shop.json'), '{');
      lost(root);
    },
  });
});

test.run();
