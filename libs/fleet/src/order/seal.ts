/** Texts that a server signs with its Ed25519 key. The signature covers the use, so one cannot pass as another. */

import type { KeyObject } from 'node:crypto';
import { readIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { SERVER_NAME } from '../files/names.ts';
import * as f from './fields.ts';

/** Slow to load, and `--help` does not need it. */
const crypto = () => process.getBuiltinModule('node:crypto');

const SEALED_MAX = 1_048_576;
/** A text of a server, in characters at most a message. */
export const sealedField = f.object({
  server: f.matching(SERVER_NAME, 'the name of a server'),
  body: f.text(SEALED_MAX),
  sig: f.text(SEALED_MAX),
});
export type Sealed = f.ValueOf<typeof sealedField>;
export type Use = 'result' | 'events' | 'state' | 'step';

const signed = (use: Use, server: string, body: string) =>
  Buffer.from(`runner-fleet-${use}\n${server}\n${body}`);

/** A new private key, as PEM. */
export function newSignKey(): string {
  return crypto()
    .generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/** The private key in a file. Throws `fleet_not_configured`, `guard_tripped`. */
export function readSignKey(path: string, made: string): KeyObject {
  const pem = readSecretFile(path, made);
  try {
    return crypto().createPrivateKey(pem);
  } catch {
    throw new Failure('fleet_not_configured', `${path} does not hold a key`);
  }
}

/** The matching public key, as `ed25519:…`. */
export function publicKeyOf(privateKey: KeyObject): string {
  return `ed25519:${crypto().createPublicKey(privateKey).export({ format: 'jwk' }).x}`;
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

export function seal(use: Use, server: string, body: string, key: KeyObject): Sealed {
  const sig = crypto()
    .sign(null, signed(use, server, body), key)
    .toString('base64url');
  return { server, body, sig };
}

/** Whether the signature matches the server's public key. */
export function isSealedBy(use: Use, { server, body, sig }: Sealed, key: string): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.replace(/^ed25519:/, '') };
  const signature = Buffer.from(sig, 'base64url');
  const verify = () => {
    const publicKey = crypto().createPublicKey({ key: jwk, format: 'jwk' });
    return crypto().verify(null, signed(use, server, body), publicKey, signature);
  };
  return orElse(verify, false);
}

/** Undefined unless the text is sealed. */
export const sealedTextOf = (text: string): Sealed | undefined => f.parsedValue(text, sealedField);

/** What a message says, if this server has signed it. */
export function signedText(
  use: Use,
  text: string,
  { server, key }: { readonly server: string; readonly key: string },
): string | undefined {
  const sealed = sealedTextOf(text);
  return sealed?.server === server && isSealedBy(use, sealed, key) ? sealed.body : undefined;
}

/** The first 32 hexadecimal digits of a SHA-256. */
export function digestOf(text: string | Uint8Array): string {
  return crypto().createHash('sha256').update(text).digest('hex').slice(0, 32);
}
