/** Apps on several code hosts at once: repositories in groups, user names, submodules across hosts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { add, codeHostsSuite, GITEA, GITLAB } from './code-hosts.ts';

const test = codeHostsSuite('code hosts');

test('of two hosts on one machine the one with the longer address has the repository', async ({
  root,
}) => {
  const text = `code_host_git_url: http://127.0.0.1:1\ncode_hosts: { forge: { type: gitea, git_url: "http://127.0.0.1:1/git/sub" } }\n`;
  writeFileSync(join(root, 'config.yml'), text, { mode: 0o600 });
  const added = await add(root, 'http://127.0.0.1:1/git/sub/acme/app', GITEA);
  assert.is(added.status, 0, added.stderr);
  assert.is(JSON.parse(added.stdout).host, 'forge');
});

test('an address for SSH is taken, with a note that SSH is not used', async ({ root }) => {
  const added = await add(root, 'git@github.com:acme/shop.git', GITEA);
  assert.is(added.status, 0, added.stderr);
  assert.match(added.stderr, /does not use SSH: acme\/shop is cloned over https/);
});

for (const [given, sentence] of [
  [
    'https://git.example.org/acme/shop',
    /is on no known code host \(known: default, my-gitlab, .*\): add its host, with its type, to \/.*\/config\.yml: code_hosts: \{ git\.example\.org: \{ type: git \} \}/,
  ],
  [
    'ssh://git@git.example.org:2222/acme/shop',
    /: \{ type: git, git_url: https:\/\/git\.example\.org \}/,
  ],
  ['forge:acme/shop', /code_hosts: \{ forge: \{ type: git, git_url: https:\/\/… \} \}/],
  ['https://ada:s3cret@git.example.org/acme/shop', /is on no known code host/],
  ['my-gitlab:alone', /'alone' is not a repository/],
  ['github:group/sub/site', /'group\/sub\/site' is not a repository/],
] as const) {
  test(`${given} is refused`, async ({ root }) => {
    const { status, stderr } = await add(root, given, GITLAB);
    assert.is(status, 1);
    assert.match(stderr, sentence);
    assert.not.match(stderr, /s3cret/);
  });
}

test.run();
