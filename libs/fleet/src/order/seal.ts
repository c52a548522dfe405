/** Texts that a server signs with its Ed25519 key. The signature covers the use, so one cannot pass as another. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import { readIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { jsonObject } from '@runner/common/text/json';
import { isServerName } from '../files/names.ts';

export interface Sealed {
  readonly server: string;
  readonly body: string;
  readonly sig: string;
}
export type Use = 'result' | 'events' | 'state' | 'step';

const signed = (use: Use, server: string, body: string) =>
  Buffer.from(`runner-fleet-${use}\n${server}\n${body}`);

/** A new private key, as PEM. */
export function newSignKey(): string {
  return generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/** The matching public key, as `ed25519:…`. */
export function publicKeyOf(pem: string): string {
  return `ed25519:${createPublicKey(pem).export({ format: 'jwk' }).x}`;
}

/** Reads a key file; `made` is the command that creates it. Throws `fleet_not_configured`, `guard_tripped`. */
export function readSecretFile(path: string, made: string): string {
  const bytes = readIfThere(path, 65_536, ({ mode }) => {
    if ((mode & 0o077) !== 0)
      throw new Failure(
        'guard_tripped',
        `not to be trusted: others may read ${path}: run chmod 600 ${path}`,
      );
  });
  if (!bytes) throw new Failure('fleet_not_configured', `there is no ${path}: run ${made}`);
  return bytes.toString('utf8').trim();
}

export function seal(use: Use, server: string, body: string, pem: string): Sealed {
  const sig = sign(null, signed(use, server, body), createPrivateKey(pem)).toString('base64url');
  return { server, body, sig };
}

/** Whether the signature matches the server's public key. */
export function isSealedBy(use: Use, { server, body, sig }: Sealed, key: string): boolean {
  try {
    const x = key.replace(/^ed25519:/, '');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, signed(use, server, body), publicKey, Buffer.from(sig, 'base64url'));
  } catch {
    return false;
  }
}

/** Undefined unless the text is sealed. */
export function sealedTextOf(text: string): Sealed | undefined {
  const { server, body, sig } = jsonObject(text) ?? {};
  if (typeof server !== 'string' || typeof body !== 'string' || typeof sig !== 'string')
    return undefined;
  return isServerName(server) ? { server, body, sig } : undefined;
}

/** The first 32 hexadecimal digits of a SHA-256. */
export function digestOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
