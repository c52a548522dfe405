/** OpenPGP signatures, such as those of merges on github.com, verified by gpgv. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '@runner/common/foundation/failure';

/** How the armour of such a signature begins. */
export const PGP_ARMOUR = '-----BEGIN PGP SIGNATURE-----';

/** In milliseconds. */
const PATIENCE = 30_000;
const KEYS =
  /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[^\r\n]+\r?\n)*\r?\n([A-Za-z0-9+/=\r\n]+?)(?:=[A-Za-z0-9+/]{4}\r?\n)?-----END/g;

/** Who made a signature, by a keyring, armoured or not. */
export interface PgpSigner {
  readonly principal: string;
  /** Fingerprint of the primary key, in hex. */
  readonly key: string;
}

/** The signer, if the keyring has the key and the key has not ended. Throws `signers_invalid` without gpgv. */
export async function pgpSigner(
  keyring: Buffer,
  signature: string,
  payload: Buffer,
): Promise<PgpSigner | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'runner-gpgv-'));
  try {
    const file = (name: string, content: Buffer | string) => {
      writeFileSync(join(folder, name), content, { mode: 0o600 });
      return join(folder, name);
    };
    const keys = file('keys', binary(keyring));
    const options = ['--homedir', folder, '--keyring', keys, '--weak-digest', 'SHA1'];
    const args = [...options, '--status-fd', '1', '--', file('sig', signature), '-'];
    const status = await statusOf(args, payload);
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
    rmSync(folder, { recursive: true, force: true });
  }
}

/** gpgv reads no armour. */
function binary(keyring: Buffer): Buffer {
  const blocks = [...keyring.toString('latin1').matchAll(KEYS)];
  if (blocks.length === 0) return keyring;
  return Buffer.concat(blocks.map(([, base64 = '']) => Buffer.from(base64, 'base64')));
}

function statusOf(args: readonly string[], payload: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
    const child = spawn('gpgv', args, {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: PATIENCE,
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    const missing =
      'gpgv is missing, which the OpenPGP keys of commit_signers.gpg need: install gpgv';
    child.on('error', () => reject(new Failure('signers_invalid', missing)));
    child.on('close', (status) => resolve(status === 0 ? text : ''));
    child.stdin.on('error', () => {});
    child.stdin.end(payload);
  });
}
