/** Signatures of `ssh-keygen -Y sign`, as OpenSSH's PROTOCOL.sshsig describes them. */
import { fingerprintOfKey, type SshKey, Wire, wired } from './ssh-key.ts';

/** A signature that was read, but not verified. */
export interface SshSignature {
  /** Of the key that claims it, `SHA256:…`. */
  readonly fingerprint: string;
  readonly namespace: string;
  readonly reserved: Buffer;
  readonly hash: string;
  /** The algorithm, such as `rsa-sha2-512`, and its own bytes. */
  readonly algorithm: string;
  readonly bytes: Buffer;
  /** Of a security key: flags and counter. */
  readonly touch: Buffer;
}

/** How the armour of such a signature begins. */
export const SSH_ARMOUR = '-----BEGIN SSH SIGNATURE-----';
const ARMOUR =
  /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]{1,16384})\r?\n-----END SSH SIGNATURE-----\s*$/;
const MAGIC = 'SSHSIG';
const VERSION = 1;
/** Flags and counter. */
const TOUCH = 5;

/** Reads an armoured signature; undefined if it is malformed. */
export function sshSignature(armoured: string): SshSignature | undefined {
  const base64 = ARMOUR.exec(armoured)?.[1];
  if (base64 === undefined) return undefined;
  try {
    const wire = new Wire(Buffer.from(base64, 'base64'));
    if (wire.take(MAGIC.length).toString('latin1') !== MAGIC || wire.number() !== VERSION)
      return undefined;
    const [fingerprint, namespace] = [fingerprintOfKey(wire.string()), wire.string().toString()];
    const [reserved, hash, inner] = [wire.string(), wire.text(), new Wire(wire.string())];
    const [algorithm, bytes] = [inner.text(), inner.string()];
    const touch = inner.isAtEnd ? Buffer.alloc(0) : inner.take(TOUCH);
    if (!wire.isAtEnd || !inner.isAtEnd) return undefined;
    return { fingerprint, namespace, reserved, hash, algorithm, bytes, touch };
  } catch {
    return undefined;
  }
}

export function isGoodSignature(
  signature: SshSignature,
  { type, key, size, application }: SshKey,
  message: Buffer,
): boolean {
  const { algorithm, hash, touch } = signature;
  const { createHash, verify } = process.getBuiltinModule('node:crypto');
  const allowed = type === 'ssh-rsa' ? ['rsa-sha2-256', 'rsa-sha2-512'] : [type];
  if (!allowed.includes(algorithm) || (hash !== 'sha256' && hash !== 'sha512')) return false;
  if ((application !== undefined) !== touch.length > 0) return false;
  const digest = createHash(hash).update(message).digest();
  const parts = [signature.namespace, signature.reserved, hash, digest].map((part) => wired(part));
  let signed = Buffer.concat([Buffer.from(MAGIC), ...parts]);
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
  if (application) signed = Buffer.concat([sha256(application), touch, sha256(signed)]);
  try {
    if (size > 0) {
      const bytes = pairOf(signature.bytes, size);
      const name = `sha${size === 66 ? 512 : size * 8}`;
      return verify(name, signed, { key, dsaEncoding: 'ieee-p1363' }, bytes);
    }
    if (type === 'ssh-rsa')
      return verify(`sha${algorithm.slice(-3)}`, signed, key, signature.bytes);
    return verify(null, signed, key, signature.bytes);
  } catch {
    return false;
  }
}

/** The two numbers of an ECDSA signature, each filled up to the size of a coordinate. */
function pairOf(bytes: Buffer, size: number): Buffer {
  const wire = new Wire(bytes);
  const pair = [wire.integer(), wire.integer()].map((number) => {
    if (number.length > size) throw new RangeError('too long');
    return Buffer.concat([Buffer.alloc(size - number.length), number]);
  });
  if (!wire.isAtEnd) throw new RangeError('too long');
  return Buffer.concat(pair);
}
