/**
 * Sealed tokens: JWE in compact serialisation (RFC 7516), made with node:crypto. `dir` + A256GCM
 * with the master key, or with a content key of the app's own that the master key wraps
 * (A256GCMKW). The protected header is authenticated and names key, app and field, so a value
 * copied to another app does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { accessSync, constants, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure, systemFailure } from './failure.ts';
import { isThere, makeFolder, namesIn, readIfThere, removeIfThere, writeWhole } from './files.ts';
import type { Paths } from './paths.ts';
import { Secret } from './secret.ts';

/** The field that a sealed token stands in; part of what is authenticated. */
const FIELD = 'state.repohost_token';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface MasterKey {
  /** `m_` and 8 hex characters; names the key without telling anything about it. */
  readonly kid: string;
  readonly bytes: Buffer;
}
/** Master keys, the current one first. Never empty. */
export type Keyring = readonly [MasterKey, ...MasterKey[]];

type Env = Readonly<Record<string, string | undefined>>;

function masterKey(bytes: Buffer): MasterKey {
  const mac = createHmac('sha256', bytes).update('runner/kid/v1').digest('hex');
  return { kid: `m_${mac.slice(0, 8)}`, bytes };
}

/** Where the keys are read from: systemd's credential, RUNNER_MKEY_FILE, `mkey` under the root. */
export function mkeyFile(paths: Paths, env: Env): string {
  const credential = credentialFile(env);
  if (credential !== undefined && isThere(credential)) return credential;
  return env.RUNNER_MKEY_FILE || paths.mkey;
}

function credentialFile(env: Env): string | undefined {
  return env.CREDENTIALS_DIRECTORY ? join(env.CREDENTIALS_DIRECTORY, 'runner-mkey') : undefined;
}

/**
 * Reads the master keys. Undefined when there is no key file. Throws `mkey_exposed` when others
 * may read the file, `mkey_malformed`, `file_unreadable`.
 */
export function readKeyring(paths: Paths, env: Env): Keyring | undefined {
  const path = mkeyFile(paths, env);
  const text = readIfThere(path, 65_536)?.toString('latin1');
  if (text === undefined) return undefined;
  // systemd guards its credentials by the folder and shows other modes there.
  if (path !== credentialFile(env) && (lstatSync(path).mode & 0o077) !== 0) {
    throw new Failure('mkey_exposed', `others may read the master key: run chmod 600 ${path}`);
  }
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => decode(line, KEY_BYTES))
    .map((bytes) => {
      if (!bytes)
        throw new Failure(
          'mkey_malformed',
          `${path} does not hold 32-byte keys in base64url, one per line`,
        );
      return masterKey(bytes);
    });
  const [first, ...older] = keys;
  if (!first) throw new Failure('mkey_malformed', `${path} is empty`);
  return [first, ...older];
}

/** Reads the master keys; a missing file is the Failure `mkey_missing`. */
export function requireKeyring(paths: Paths, env: Env): Keyring {
  const keyring = readKeyring(paths, env);
  if (keyring) return keyring;
  throw new Failure(
    'mkey_missing',
    `there is no master key in ${mkeyFile(paths, env)}: restore it from your backup`,
  );
}

/**
 * Makes the first master key. Call it only when no sealed value exists, under the registry's lock:
 * a new key in place of a lost one would hide that the old tokens are lost.
 */
export function createKeyring(paths: Paths, env: Env): Keyring {
  const path = mkeyFile(paths, env);
  makeFolder(dirname(path));
  writeWhole(path, `${newKeyLine()}\n`);
  return requireKeyring(paths, env);
}

/**
 * Checks that the file of the master key can be replaced, before anything is changed. Throws
 * `not_writable`, also for systemd's credential: it is a copy, a new key in it would be lost.
 */
export function requireChangeableKeys(paths: Paths, env: Env): void {
  const path = mkeyFile(paths, env);
  if (path === credentialFile(env)) {
    throw new Failure(
      'not_writable',
      `the master key in ${path} is a copy that systemd made: unset CREDENTIALS_DIRECTORY and name the key's own file with RUNNER_MKEY_FILE`,
    );
  }
  // Root may write to it all the same: who took the right away wants it left alone.
  if (isThere(path) && (lstatSync(path).mode & 0o200) === 0) {
    throw new Failure(
      'not_writable',
      `the master key is write-protected: run chmod 600 ${path} if it may be replaced`,
    );
  }
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw systemFailure(error, `replace the master key in ${path}`);
  }
}

/** Puts a new master key before the others: it seals from now on, the others still open. */
export function addMasterKey(paths: Paths, env: Env): Keyring {
  const lines = [newKeyLine(), ...requireKeyring(paths, env).map(lineOfKey)];
  replaceKeys(paths, env, lines);
  return requireKeyring(paths, env);
}

/** Keeps the current master key alone; returns how many were dropped. */
export function dropOldKeys(paths: Paths, env: Env): number {
  const [current, ...older] = requireKeyring(paths, env);
  if (older.length > 0) replaceKeys(paths, env, [lineOfKey(current)]);
  return older.length;
}

/** Writes the keys under the registry's lock; copies that a killed command left beside them go. */
function replaceKeys(paths: Paths, env: Env, lines: readonly string[]): void {
  requireChangeableKeys(paths, env);
  const path = mkeyFile(paths, env);
  for (const name of namesIn(dirname(path))) {
    const stray = name.startsWith(`.${basename(path)}.`) && /\.[0-9a-f]{12}\.tmp$/.test(name);
    if (stray) removeIfThere(join(dirname(path), name));
  }
  writeWhole(path, `${lines.join('\n')}\n`);
}

function newKeyLine(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

function lineOfKey({ bytes }: MasterKey): string {
  return bytes.toString('base64url');
}

interface Header {
  alg: 'dir' | 'A256GCMKW';
  enc: 'A256GCM';
  kid: string;
  app: string;
  fld: string;
  /** IV and tag of the wrapped content key; A256GCMKW alone. */
  iv?: string;
  tag?: string;
}

/** Seals a token for an app; `twoLayers` is `--ckey`: a content key of the app's own inside mkey. */
export function seal(token: Secret, app: string, keyring: Keyring, twoLayers: boolean): string {
  const [current] = keyring;
  const header: Header = {
    alg: twoLayers ? 'A256GCMKW' : 'dir',
    enc: 'A256GCM',
    kid: current.kid,
    app,
    fld: FIELD,
  };
  let contentKey = current.bytes;
  let wrapped = '';
  if (twoLayers) {
    contentKey = randomBytes(KEY_BYTES);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', current.bytes, iv);
    wrapped = Buffer.concat([cipher.update(contentKey), cipher.final()]).toString('base64url');
    header.iv = iv.toString('base64url');
    header.tag = cipher.getAuthTag().toString('base64url');
  }
  const head = Buffer.from(JSON.stringify(header)).toString('base64url');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', contentKey, iv);
  cipher.setAAD(Buffer.from(head, 'ascii'));
  const text = Buffer.concat([cipher.update(token.reveal(), 'utf8'), cipher.final()]);
  const parts = [iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url'));
  if (twoLayers) contentKey.fill(0);
  return [head, wrapped, ...parts].join('.');
}

/** The id of the key that a value says it is sealed with; undefined for what is no sealed value. */
export function keyIdOf(value: string): string | undefined {
  return headerOf(value.split('.')[0] ?? '')?.kid;
}

/** Whether a sealed value has the second layer, so that it is kept when sealing anew. */
export function hasTwoLayers(value: string): boolean {
  return headerOf(value.split('.')[0] ?? '')?.alg === 'A256GCMKW';
}

/**
 * Opens a sealed token of `app`. Throws `token_corrupt` (altered, truncated, foreign algorithm),
 * `mkey_unknown` (sealed with a key that is not in the file), `token_wrong_app` (copied).
 */
export function open(value: string, app: string, keyring: Keyring): Secret {
  const corrupt = (why: string) =>
    new Failure('token_corrupt', `the stored token of '${app}' ${why}`);
  const parts = value.split('.');
  const [head = '', wrapped = '', ivText = '', sealed = '', tagText = ''] = parts;
  const header = headerOf(head);
  if (parts.length !== 5 || !header) throw corrupt('is damaged');
  const twoLayers = header.alg === 'A256GCMKW';
  if ((header.alg !== 'dir' && !twoLayers) || header.enc !== 'A256GCM') {
    throw corrupt('names an algorithm that is not allowed');
  }
  const iv = decode(ivText, IV_BYTES);
  const tag = decode(tagText, TAG_BYTES);
  const bytes = decode(sealed);
  if (!iv || !tag || !bytes || (!twoLayers && wrapped !== '')) throw corrupt('is damaged');
  const key = keyring.find((each) => each.kid === header.kid);
  if (!key) {
    throw new Failure(
      'mkey_unknown',
      `the stored token of '${app}' is sealed with another master key than those in use`,
    );
  }
  const contentKey = twoLayers ? unwrap(header, wrapped, key.bytes) : key.bytes;
  const plain = contentKey && decrypt(contentKey, iv, tag, bytes, head);
  if (!plain) throw corrupt('is damaged');
  // Checked after decryption: only now is the header known to be the one that was sealed.
  if (header.app !== app || header.fld !== FIELD) {
    throw new Failure(
      'token_wrong_app',
      `the stored token of '${app}' was sealed for another app or field`,
    );
  }
  return new Secret(plain.toString('utf8'));
}

function unwrap(header: Header, wrapped: string, key: Buffer): Buffer | undefined {
  const iv = decode(header.iv, IV_BYTES);
  const tag = decode(header.tag, TAG_BYTES);
  const bytes = decode(wrapped, KEY_BYTES);
  return iv && tag && bytes && decrypt(key, iv, tag, bytes);
}

function decrypt(
  key: Buffer,
  iv: Buffer,
  tag: Buffer,
  bytes: Buffer,
  aad?: string,
): Buffer | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    if (aad !== undefined) decipher.setAAD(Buffer.from(aad, 'ascii'));
    const plain = decipher.update(bytes);
    // GCM holds nothing back: this only checks the tag.
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

/** Decodes base64url; undefined unless it is a text, canonical (no slack bits) and has the length. */
function decode(text: unknown, length?: number): Buffer | undefined {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const good =
    bytes.toString('base64url') === text && (length === undefined || bytes.length === length);
  return good ? bytes : undefined;
}

function headerOf(part: string): Header | undefined {
  try {
    const value: unknown = JSON.parse(decode(part)?.toString('utf8') ?? '');
    return value !== null && typeof value === 'object' ? (value as Header) : undefined;
  } catch {
    return undefined;
  }
}
