/** Public keys in OpenSSH's format, RFC 4253 section 6.6 and PROTOCOL.u2f, as keys of node:crypto. */
import type { JsonWebKey, KeyObject } from 'node:crypto';

/** Reads the strings and numbers of the SSH wire format, RFC 4251 section 5. Throws a RangeError past the end. */
export class Wire {
  #at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('too short');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  number(): number {
    return this.take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.take(this.number());
  }

  text(): string {
    return this.string().toString('latin1');
  }

  /** A positive number without its leading zeros. */
  integer(): Buffer {
    const bytes = this.string();
    const first = bytes.findIndex((byte) => byte !== 0);
    return first < 0 ? Buffer.alloc(0) : bytes.subarray(first);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
}

/** A string in the SSH wire format. */
export function wired(bytes: Buffer | string): Buffer {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** A public key. */
export interface SshKey {
  /** Such as `ssh-ed25519`. */
  readonly type: string;
  /** `SHA256:…`, as ssh-keygen prints it. */
  readonly fingerprint: string;
  readonly key: KeyObject;
  /** Bytes of a coordinate of an elliptic curve. */
  readonly size: number;
  /** Of a security key: what its signatures are bound to. */
  readonly application: Buffer | undefined;
}

/** The curves of ECDSA: their names in JWK, and the bytes of a coordinate. */
const CURVES: Readonly<Record<string, readonly [name: string, size: number]>> = {
  nistp256: ['P-256', 32],
  nistp384: ['P-384', 48],
  nistp521: ['P-521', 66],
};
/** Shorter RSA keys can be factored, NIST SP 800-131A. */
const RSA_BITS = 2_048;

/** `SHA256:…` of a key's bytes. */
export function fingerprintOfKey(blob: Buffer): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

/** Reads a key of the type that stands before it; undefined if it is malformed, weak or of another kind. */
export function sshKey(type: string, blob: Buffer): SshKey | undefined {
  try {
    const wire = new Wire(blob);
    if (wire.text() !== type) return undefined;
    const isSecurityKey = type.startsWith('sk-');
    const plain = type.replace(/^sk-/, '').replace(/@openssh\.com$/, '');
    const found = jwkOf(plain, wire);
    if (!found) return undefined;
    const application = isSecurityKey ? wire.string() : undefined;
    if (!wire.isAtEnd) return undefined;
    const { createPublicKey } = process.getBuiltinModule('node:crypto');
    const key = createPublicKey({ key: found.jwk, format: 'jwk' });
    if ((key.asymmetricKeyDetails?.modulusLength ?? RSA_BITS) < RSA_BITS) return undefined;
    return { type, fingerprint: fingerprintOfKey(blob), key, size: found.size, application };
  } catch {
    return undefined;
  }
}

function jwkOf(type: string, wire: Wire): { jwk: JsonWebKey; size: number } | undefined {
  const text = (bytes: Buffer) => bytes.toString('base64url');
  if (type === 'ssh-ed25519')
    return { jwk: { kty: 'OKP', crv: 'Ed25519', x: text(wire.string()) }, size: 0 };
  if (type === 'ssh-rsa') {
    const e = text(wire.integer());
    return { jwk: { kty: 'RSA', e, n: text(wire.integer()) }, size: 0 };
  }
  const curve = wire.text();
  const [crv, size] = CURVES[curve] ?? [];
  if (crv === undefined || size === undefined || type !== `ecdsa-sha2-${curve}`) return undefined;
  const point = wire.string();
  if (point[0] !== 4 || point.length !== 1 + 2 * size) return undefined;
  const [x, y] = [text(point.subarray(1, 1 + size)), text(point.subarray(1 + size))];
  return { jwk: { kty: 'EC', crv, x, y }, size };
}
