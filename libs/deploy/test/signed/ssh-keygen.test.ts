/** Signatures and lists of keys, against what ssh-keygen makes of the same. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  allowedSigners,
  isNamespaceAllowed,
  revokedKeys,
} from '@runner/deploy/signed/allowed-signers';
import { parseCommit, parseTag } from '@runner/deploy/signed/parse-object';
import { isGoodSignature, sshSignature } from '@runner/deploy/signed/sshsig';
import { temporaryFolder } from '@runner/testing/temp';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const folder = temporaryFolder('signed');
const KINDS = [
  ['ed25519', '256'],
  ['ecdsa', '256'],
  ['ecdsa', '384'],
  ['ecdsa', '521'],
  ['rsa', '2048'],
] as const;
const keygen = (args: readonly string[], input: Buffer = Buffer.alloc(0)) =>
  execFileSync('ssh-keygen', args, { input, stdio: ['pipe', 'pipe', 'ignore'] });

const keys = KINDS.map(([type, bits], index) => {
  const path = join(folder, `key${index}`);
  keygen(['-q', '-t', type, '-b', bits, '-N', '', '-C', `c${index}`, '-f', path]);
  const line = readFileSync(`${path}.pub`, 'utf8').trim();
  const [key] = allowedSigners(`who${index}@example.org ${line}\n`).found;
  assert.ok(key);
  return { path, line, key };
});
const sign = (path: string, message: Buffer, ...more: string[]) =>
  keygen(['-Y', 'sign', '-q', '-n', 'git', ...more, '-f', path], message).toString();

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

test('no changed byte of a signature is accepted', () => {
  const message = Buffer.from('tree');
  for (const { path, key } of keys) {
    const armoured = sign(path, message);
    const blob = Buffer.from(armoured.split('\n').slice(1, -2).join(''), 'base64');
    fc.assert(
      fc.property(fc.nat(blob.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const changed = Buffer.from(blob);
        changed[at] = (changed[at] as number) ^ by;
        const text = `-----BEGIN SSH SIGNATURE-----\n${changed.toString('base64')}\n-----END SSH SIGNATURE-----\n`;
        const signature = sshSignature(text);
        const isOurs = signature?.fingerprint === key.fingerprint;
        return !signature || !isOurs || !isGoodSignature(signature, key, message);
      }),
      { numRuns: 300 },
    );
  }
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

test('a signature of a security key is bound to its application, its flags and its counter', async () => {
  const { generateKeyPairSync, sign: signBytes, createHash } = await import('node:crypto');
  const { wired } = await import('@runner/deploy/signed/ssh-key');
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const type = 'sk-ssh-ed25519@openssh.com';
  const x = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url');
  const blob = Buffer.concat([wired(type), wired(x), wired('ssh:')]);
  const [key] = allowedSigners(`ada ${type} ${blob.toString('base64')}`).found;
  assert.ok(key);
  const message = Buffer.from('m');
  const sha = (name: string, bytes: Buffer) => createHash(name).update(bytes).digest();
  const inner = ['git', '', 'sha512', sha('sha512', message)].map((part) => wired(part));
  const data = sha('sha256', Buffer.concat([Buffer.from('SSHSIG'), ...inner]));
  const touch = Buffer.from([1, 0, 0, 0, 9]);
  const bytes = signBytes(
    null,
    Buffer.concat([sha('sha256', Buffer.from('ssh:')), touch, data]),
    privateKey,
  );
  const armoured = (flags: Buffer) => {
    const parts = [blob, 'git', '', 'sha512', Buffer.concat([wired(type), wired(bytes), flags])];
    const whole = [
      Buffer.from('SSHSIG'),
      Buffer.from([0, 0, 0, 1]),
      ...parts.map((part) => wired(part)),
    ];
    return `-----BEGIN SSH SIGNATURE-----\n${Buffer.concat(whole).toString('base64')}\n-----END SSH SIGNATURE-----\n`;
  };
  const signature = sshSignature(armoured(touch));
  assert.ok(signature && isGoodSignature(signature, key, message));
  const again = sshSignature(armoured(Buffer.from([1, 0, 0, 0, 10])));
  assert.not.ok(again && isGoodSignature(again, key, message));
  const bare = sshSignature(armoured(Buffer.alloc(0)));
  assert.not.ok(bare && isGoodSignature(bare, key, message));
  // What the program of OpenSSH says of the same.
  writeFileSync(join(folder, 'sk.sig'), armoured(touch));
  writeFileSync(join(folder, 'sk'), `ada ${type} ${blob.toString('base64')}\n`);
  const args = [
    '-Y',
    'verify',
    '-q',
    '-n',
    'git',
    '-f',
    join(folder, 'sk'),
    '-I',
    'ada',
    '-s',
    join(folder, 'sk.sig'),
  ];
  assert.is(spawnSync('ssh-keygen', args, { input: message }).status, 0);
});

test.run();
