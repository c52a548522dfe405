import { gitFailure } from '@runner/deploy/git/failure';
import type { GitSource } from '@runner/deploy/git/source';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const TOKEN = `ghp_${'s3cret'.repeat(6)}`;
const source = { app: 'shop', repo: 'acme/shop', branch: 'main', token: undefined } as GitSource;
const failed = (stderr: string) =>
  gitFailure(source, { status: 128, stdout: Buffer.alloc(0), stderr, timedOut: false });

test("a token in git's own line is cleaned before the line is cut", () => {
  for (let before = 250; before < 310; before += 1) {
    const { message } = failed(`fatal: ${'x '.repeat(before / 2)}${TOKEN} is not welcome\n`);
    assert.not.ok(message.includes('s3cret'), message);
    assert.ok(message.length < 330, message);
  }
});

test('a certificate of another name, or an expired one, is no reason to add an authority', () => {
  for (const said of [
    "SSL: certificate subject name (other.example) does not match target host name 'git.example'",
    "SSL: no alternative certificate subject name matches target host name 'git.example'",
    'SSL certificate problem: certificate has expired',
  ]) {
    const { code, message } = failed(
      `fatal: unable to access 'https://git.example/a.git/': ${said}\n`,
    );
    assert.is(code, 'network_error', said);
    assert.match(message, `certificate is for another name or has expired (unable`);
  }
});

test.run();
