/** Signatures and lists of keys, against what ssh-keygen makes of the same. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  allowedSigners,
  isNamespaceAllowed,
  revokedKeys,
} from '@runner/common/signed/allowed-signers';
import { isGoodSignature, sshSignature } from '@runner/common/signed/sshsig';
import { parseCommit, parseTag } from '@runner/deploy/signed/parse-object';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, keygen, keys, sign } from './ssh-keygen.ts';

test('what ssh-keygen signs is good for its key alone, and for no other message', () => {
  for (const { path, key } of keys)
    for (const hash of ['sha256', 'sha512'])
      for (const message of [
        Buffer.from(''),
        Buffer.from('tree 1\n\nöß\0'),
        Buffer.alloc(70_000, 7),
      ]) {
        const signature = sshSignature(sign(path, message, '-O', `hashalg=${hash}`));
        assert.ok(signature);
        assert.is(signature.fingerprint, key.fingerprint);
        for (const other of keys)
          assert.is(isGoodSignature(signature, other.key, message), other.key === key, key.type);
        assert.not.ok(isGoodSignature(signature, key, Buffer.concat([message, Buffer.from('x')])));
      }
});

test('the fingerprint is that of ssh-keygen', () => {
  for (const { path, key } of keys)
    assert.ok(keygen(['-l', '-f', path]).toString().includes(` ${key.fingerprint} `));
});

test('any text is read without an error as a signature, a list, a commit and a tag', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.string({ unit: 'binary' }), (bytes, text) => {
      const armoured = `-----BEGIN SSH SIGNATURE-----\n${Buffer.from(bytes).toString('base64')}\n-----END SSH SIGNATURE-----\n`;
      sshSignature(armoured);
      sshSignature(text);
      allowedSigners(text);
      revokedKeys(text);
      parseCommit(Buffer.from(bytes));
      parseTag(Buffer.from(bytes));
    }),
  );
});

test('options of a line mean what they mean to ssh-keygen', () => {
  const { path, line } = keys[0] as (typeof keys)[number];
  const message = Buffer.from('m');
  const sig = join(folder, 'sig');
  writeFileSync(sig, sign(path, message));
  const list = join(folder, 'allowed');
  const option = fc.constantFrom(
    '',
    'namespaces="git"',
    'namespaces="file"',
    'namespaces="file,gi?"',
    'NAMESPACES="*,!git"',
    'valid-after="20300101Z"',
    'valid-after="20200101"',
    'valid-before="20200101"',
    'valid-before="203001011200Z"',
    'valid-after="20200101",valid-before="20300101",namespaces="git"',
  );
  const at = Date.parse('2026-01-02T03:04:05Z') / 1000;
  fc.assert(
    fc.property(option, fc.constantFrom('ada@example.org', '"ada@example.org"'), (options, who) => {
      const text = `# a comment\n\n${who} ${options} ${line}\n`;
      writeFileSync(list, text);
      const args = [
        '-Y',
        'verify',
        '-q',
        '-n',
        'git',
        '-f',
        list,
        '-I',
        'ada@example.org',
        '-s',
        sig,
      ];
      const { status } = spawnSync('ssh-keygen', [...args, '-O', 'verify-time=20260102030405Z'], {
        input: message,
      });
      const [key] = allowedSigners(text).found;
      const isIn = key && at >= (key.after ?? 0) && at <= (key.before ?? Number.MAX_VALUE);
      assert.is(Boolean(isIn && isNamespaceAllowed(key.namespaces, 'git')), status === 0, text);
    }),
    { numRuns: 60 },
  );
});

test('a line that cannot be read is named with its number', () => {
  const { line } = keys[0] as (typeof keys)[number];
  const text = [
    `ada ${line}`,
    `* cert-authority ${line}`,
    'bob ssh-ed25519 AAAA',
    'nothing',
    `eve valid-before="soon" ${line}`,
    `eve no-touch ${line}`,
    'dan ssh-dss AAAAB3NzaC1kc3MAAACB',
  ].join('\n');
  const { found, problems } = allowedSigners(text);
  assert.equal(
    found.map(({ principal }) => principal),
    ['ada'],
  );
  assert.equal(
    problems.map((each) => each.slice(0, 24)),
    [
      '2: has cert-authority, w',
      '3: has no key that count',
      '4: has no key that count',
      '5: has a time that is no',
      '6: has an option that is',
      '7: has no key that count',
    ],
  );
  assert.equal(revokedKeys(`${line}\nKRL\n`).found.length, 1);
  assert.equal(revokedKeys(`${line}\nKRL\n`).problems.length, 1);
});

test.run();
