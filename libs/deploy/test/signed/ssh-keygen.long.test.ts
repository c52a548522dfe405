/** Signatures and lists of keys, against what ssh-keygen makes of the same. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedSigners } from '@runner/common/signed/allowed-signers';
import { isGoodSignature, sshSignature } from '@runner/common/signed/sshsig';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, keys, sign } from './ssh-keygen.ts';

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

test('a signature of a security key is bound to its application, its flags and its counter', async () => {
  const { generateKeyPairSync, sign: signBytes, createHash } = await import('node:crypto');
  const { wired } = await import('@runner/common/signed/ssh-key');
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
