/** Texts in a DSSE envelope, signed with the server's Ed25519 key. */
import type { KeyObject } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { changeRegistry } from '@runner/common/apps/change';
import { hashOf } from '@runner/common/audit/chain';
import { isThere } from '@runner/common/files/read';
import { readTrusted } from '@runner/common/files/trusted';
import { writeWhole } from '@runner/common/files/write';
import { failureIn, orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import { word } from '@runner/common/text/shell';

const TYPE = 'application/vnd.in-toto+json';
/** Bytes of a key file. */
const KEY_MAX = 65_536;
/** Slow to load, and `--help` does not need it. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** The server's key, made if it has none. Throws `signature_invalid`, `guard_tripped`, `not_writable`. */
export function ownKey({ io, paths }: Server): KeyObject {
  const path = paths.statementKey;
  const make = () => {
    const { privateKey } = crypto().generateKeyPairSync('ed25519');
    writeWhole(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  };
  if (!isThere(path))
    changeRegistry({ io, paths, command: 'deploy' }, () => isThere(path) || make());
  return readKey(paths) as KeyObject;
}

function readKey({ statementKey: path, root }: Paths): KeyObject | undefined {
  const pem = readTrusted(path, KEY_MAX, root)?.toString('latin1');
  if (pem === undefined) return undefined;
  if ((lstatSync(path).mode & 0o077) !== 0)
    throw new Failure(
      'guard_tripped',
      `not to be trusted: others may read ${path}: run chmod 600 ${word(path)}`,
    );
  const key = orElse(() => crypto().createPrivateKey(pem), undefined);
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new Failure(
    'signature_invalid',
    `${path} does not hold a key: restore it, or run rm ${word(path)} for a new one`,
  );
}

/** What is wrong with the server's key; undefined if it is good, or not made yet. */
export const keyProblem = (paths: Paths): Failure | undefined => failureIn(() => readKey(paths));

/** The server's public key; undefined if it has signed nothing yet. Throws as `ownKey`. */
export function ownPublicKey(paths: Paths): KeyObject | undefined {
  const key = readKey(paths);
  return key && crypto().createPublicKey(key);
}

/** A public key from its PEM. Throws `signature_invalid`. */
export function publicKeyFrom(pem: string, name: string): KeyObject {
  const key = pem.includes('PRIVATE')
    ? undefined
    : orElse(() => crypto().createPublicKey(pem), undefined);
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new Failure('signature_invalid', `${name} does not hold a public key of Ed25519 as PEM`);
}

export const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

/** SHA-256 of a public key, or of that of a private key, in hex. */
export function keyIdOf(key: KeyObject): string {
  const shown = key.type === 'private' ? crypto().createPublicKey(key) : key;
  return hashOf(shown.export({ type: 'spki', format: 'der' }));
}

/** What a signature of DSSE covers. */
function covered(type: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** A value in its envelope, as JSON on one line. */
export function enveloped(value: object, key: KeyObject): string {
  const payload = Buffer.from(JSON.stringify(value));
  const sig = crypto().sign(null, covered(TYPE, payload), key).toString('base64');
  const signatures = [{ keyid: keyIdOf(key), sig }];
  return `${JSON.stringify({ payloadType: TYPE, payload: payload.toString('base64'), signatures })}\n`;
}

/** What an envelope holds, and whether the key has signed it; undefined if it is not an envelope. */
export function opened(
  text: string,
  key: KeyObject | undefined,
): { readonly value: Record<string, unknown>; readonly isSigned: boolean } | undefined {
  const { payloadType, payload, signatures } = jsonObject(text) ?? {};
  if (payloadType !== TYPE || typeof payload !== 'string' || !Array.isArray(signatures))
    return undefined;
  const bytes = Buffer.from(payload, 'base64');
  const value = jsonObject(bytes.toString('utf8'));
  if (!value) return undefined;
  const isGood = (each: unknown) => {
    const { sig, keyid } = (each ?? {}) as { sig?: unknown; keyid?: unknown };
    const signature = Buffer.from(String(sig), 'base64');
    // Decoding passes over bytes that are no base64, and bits that are not needed.
    const isExact = signature.toString('base64') === sig && bytes.toString('base64') === payload;
    if (key === undefined || !isExact || keyid !== keyIdOf(key)) return false;
    return crypto().verify(null, covered(TYPE, bytes), key, signature);
  };
  return { value, isSigned: signatures.some(isGood) };
}
