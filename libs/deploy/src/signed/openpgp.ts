/** OpenPGP signatures, such as those of merges on github.com, verified by gpgv. */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { openInMemory } from '../sandbox/settings.ts';

/** How the armour of such a signature begins. */
export const PGP_ARMOUR = '-----BEGIN PGP SIGNATURE-----';

/** In milliseconds. */
const PATIENCE = 30_000;
const ARMOURED =
  /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[^\r\n]+\r?\n)*\r?\n([A-Za-z0-9+/=\r\n]+?)(?:=[A-Za-z0-9+/]{4}\r?\n)?-----END PGP PUBLIC KEY BLOCK-----\s*/g;
const PUBLIC_KEY = 6;

/** OpenPGP keys without armour, which gpgv does not read. */
export interface PgpKeyring {
  readonly bytes: Buffer;
  readonly count: number;
}

/** The keys of a file, armoured or not, also both; undefined if any of it is something else. */
export function keyringOf(file: Buffer): PgpKeyring | undefined {
  const text = file.toString('latin1');
  const parts: Buffer[] = [];
  let end = 0;
  for (const { 0: whole, 1: base64 = '', index } of text.matchAll(ARMOURED)) {
    parts.push(plainKeys(file.subarray(end, index)), Buffer.from(base64, 'base64'));
    end = index + whole.length;
  }
  const bytes = Buffer.concat([...parts, plainKeys(file.subarray(end))]);
  const count = orElse(() => primaryKeys(bytes), 0);
  return count > 0 ? { bytes, count } : undefined;
}

/** What is between armoured keys: a comment, or keys, whose first bit is set. */
function plainKeys(bytes: Buffer): Buffer {
  return (bytes[0] ?? 0) < 0x80 && !bytes.includes('-----BEGIN') ? Buffer.alloc(0) : bytes;
}

/** Counts the keys in packets of RFC 4880. Throws for other bytes. */
function primaryKeys(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; ) {
    const { kind, end } = packetAt(bytes, at);
    if (end > bytes.length) throw new RangeError('it is cut off');
    if (kind === PUBLIC_KEY) count += 1;
    at = end;
  }
  return count;
}

/** A packet of a known length, in the old or the new format. */
function packetAt(bytes: Buffer, at: number): { kind: number; end: number } {
  const [head, first] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)];
  if (head < 0x80) throw new RangeError('it is not a packet');
  if (head < 0xc0) {
    const size = 2 ** (head & 3);
    return { kind: (head >> 2) & 0xf, end: at + 1 + size + bytes.readUIntBE(at + 1, size) };
  }
  const kind = head & 0x3f;
  if (first < 192) return { kind, end: at + 2 + first };
  if (first < 224)
    return { kind, end: at + 3 + ((first - 192) << 8) + bytes.readUInt8(at + 2) + 192 };
  if (first < 255) throw new RangeError('it has parts');
  return { kind, end: at + 6 + bytes.readUInt32BE(at + 2) };
}

/**
 * The signer and the fingerprint of the primary key, in hex, if the keyring has the key and it has not ended.
 * Throws `signers_invalid` without gpgv, `not_writable`.
 */
export async function pgpSigner(keyring: Buffer, signature: string, payload: Buffer) {
  // In /tmp an app of the same user could exchange them: hooks and apps have the server's, in the sandbox too.
  const files = [keyring, Buffer.from(signature)].map((bytes) => openInMemory(bytes, {}));
  try {
    const status = await statusOf(files, payload);
    const all = (name: string) => [
      ...status.matchAll(new RegExp(`^\\[GNUPG:\\] ${name} (.*)$`, 'gm')),
    ];
    const [[good], [valid]] = [all('GOODSIG'), all('VALIDSIG')];
    const isOne = all('GOODSIG').length === 1 && all('VALIDSIG').length === 1;
    if (!good || !valid || !isOne || all('(?:BAD|ERR|EXP|EXPKEY|REVKEY)SIG').length > 0)
      return undefined;
    const principal = good[1]?.replace(/^\S+ /, '') ?? '';
    return { principal, key: valid[1]?.split(' ').at(-1) ?? '' };
  } finally {
    for (const each of files) closeSync(each);
  }
}

const GPGV = ['--homedir', '/nonexistent', '--keyring', '/proc/self/fd/3', '--weak-digest', 'SHA1'];

function statusOf(files: readonly number[], payload: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
    const args = [...GPGV, '--status-fd', '1', '--', '/proc/self/fd/4', '-'];
    const child = spawn('gpgv', args, {
      env,
      stdio: ['pipe', 'pipe', 'ignore', ...files],
      timeout: PATIENCE,
    });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    const missing =
      'gpgv is missing, which the OpenPGP keys of commit_signers.gpg need: install gpgv';
    child.on('error', () => reject(new Failure('signers_invalid', missing)));
    child.on('close', (status) => resolve(status === 0 ? text : ''));
    child.stdin?.on('error', () => {});
    child.stdin?.end(payload);
  });
}
