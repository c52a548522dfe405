/** Keys that sign commits as git does, without a process: for histories by the thousand. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { wired } from '@runner/common/signed/ssh-key';

/** A key of ed25519 and the line that lists it. */
export interface SigningKey {
  readonly line: string;
  readonly blob: Buffer;
  readonly privateKey: KeyObject;
}

export function signingKey(): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const x = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url');
  const blob = Buffer.concat([wired('ssh-ed25519'), wired(x)]);
  return { line: `ssh-ed25519 ${blob.toString('base64')}`, blob, privateKey };
}

/** An armoured signature, in lines of 70 characters as of ssh-keygen. */
export function armouredBy(key: SigningKey, message: Buffer, namespace = 'git'): string {
  const digest = createHash('sha512').update(message).digest();
  const parts = [namespace, '', 'sha512', digest].map((part) => wired(part));
  const bytes = sign(null, Buffer.concat([Buffer.from('SSHSIG'), ...parts]), key.privateKey);
  const signature = Buffer.concat([wired('ssh-ed25519'), wired(bytes)]);
  const fields = [key.blob, namespace, '', 'sha512', signature].map((part) => wired(part));
  const blob = Buffer.concat([Buffer.from('SSHSIG'), Buffer.from([0, 0, 0, 1]), ...fields]);
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----'].join('\n');
}

/** What a commit is made of. */
export interface CommitParts {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Seconds since 1970. */
  readonly date: number;
  readonly message: string;
}

/** The bytes of a commit without a signature. */
export function commitBytes({ tree, parents, date, message }: CommitParts): Buffer {
  const who = `Ada <ada@example.org> ${date} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`)];
  return Buffer.from(
    `${[...lines, `author ${who}`, `committer ${who}`].join('\n')}\n\n${message}\n`,
  );
}

/** The commit with this signature, where git puts it. */
export function signedBytes(commit: Buffer, armoured: string): Buffer {
  const end = commit.indexOf('\n\n') + 1;
  const header = `gpgsig ${armoured.split('\n').join('\n ')}\n`;
  return Buffer.concat([commit.subarray(0, end), Buffer.from(header), commit.subarray(end)]);
}

/** The id of an object. */
export function idOf(type: string, body: Buffer): string {
  return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
}
