import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBytes, findSecret, secretForms } from '@runner/testing/secret-search';
import { temporaryFolder, tree } from '@runner/testing/temp';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

// The process in which a temporary folder is made runs this same file.
if (process.env.TEMP_CHILD !== undefined) {
  process.stdout.write(temporaryFolder());
  if (process.env.TEMP_CHILD === 'throws') throw new Error('on purpose');
  if (process.env.TEMP_CHILD === 'signal') process.kill(process.pid, 'SIGTERM');
  if (process.env.TEMP_CHILD === 'signal') setTimeout(() => {}, 5_000);
} else {
  for (const how of ['ends', 'throws', 'signal']) {
    test(`a temporary folder is gone when its process ${how}`, () => {
      let folder: string;
      try {
        folder = execFileSync(process.execPath, [__filename], {
          encoding: 'utf8',
          env: { ...process.env, TEMP_CHILD: how },
          stdio: ['ignore', 'pipe', 'ignore'],
        });
      } catch (error) {
        folder = (error as { stdout: string }).stdout;
      }
      assert.match(folder, /runner-test-/);
      assert.not(existsSync(folder));
    });
  }

  test('a folder becomes plain data', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'a/empty'), { recursive: true });
    writeFileSync(join(folder, 'a/file'), 'grüße', { mode: 0o600 });
    writeFileSync(join(folder, 'bytes'), Buffer.from([255, 1]));
    symlinkSync('a/file', join(folder, 'link'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    assert.equal(tree(folder), {
      'a/': '',
      'a/empty/': '',
      'a/file': 'grüße',
      bytes: 'base64:/wE=',
      link: '-> a/file',
      pipe: '(special)',
    });
    assert.is(tree(folder, { modes: true })['a/file'], '0600 grüße');
  });

  test('a secret is found in every form, anywhere', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 9, unit: 'grapheme' }),
        fc.string(),
        fc.string(),
        (secret, before, after) => {
          const whole = `${before}${secret}${after}`;
          const carriers = [
            whole,
            Buffer.from(whole).toString('base64'),
            Buffer.from(whole).toString('base64url'),
            Buffer.from(whole).toString('hex'),
            Buffer.from(whole).toString('hex').toUpperCase(),
            encodeURIComponent(whole),
            JSON.stringify(whole),
          ];
          for (const carrier of carriers)
            assert.ok(findSecret(carrier, secret).length > 0, carrier);
        },
      ),
    );
  });

  test('text without a secret has no matches', () => {
    assert.equal(findSecret('nothing to see, only ghp_abcdefghi', 'ghp_abcdefghj'), []);
    assert.throws(() => secretForms('short'), /at least 6 bytes/);
  });

  test('the file, name or link that contains a secret is reported', () => {
    const folder = temporaryFolder();
    const secret = 'ghp_0123456789';
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'sub/plain'), `token=${secret}\n`);
    writeFileSync(join(folder, 'sub/basic'), Buffer.from(`x:${secret}`).toString('base64'));
    writeFileSync(join(folder, secret), '');
    symlinkSync(secret, join(folder, 'link'));
    writeFileSync(join(folder, 'clean'), 'ghp_');
    assert.equal(findBytes(folder, secret), [
      `${secret}: raw (name)`,
      'link: raw (link)',
      'sub/basic: base64+2',
      'sub/plain: raw',
    ]);
  });

  test.run();
}
