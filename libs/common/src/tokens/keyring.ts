/** The master keys: where they are read from, made, added and dropped. */
import { accessSync, constants, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isThere, makeFolder, namesIn, readIfThere, removeIfThere } from '../files/read.ts';
import { readTrusted } from '../files/trusted.ts';
import { writeWhole } from '../files/write.ts';
import { orFail } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import type { Paths } from '../foundation/paths.ts';
import { word } from '../text/shell.ts';
import { credentialFile, isKeyExposed, KEY_FILE_MAX, mkeyFile } from './key-file.ts';

export const KEY_BYTES = 32;

/** Slow to load, and not needed where nothing is sealed. */
export const nodeCrypto = () => process.getBuiltinModule('node:crypto');

/** One line of mkey. */
export interface MasterKey {
  /** `m_` and 8 hex characters; identifies the key without revealing it. */
  readonly kid: string;
  readonly bytes: Buffer;
}
/** Master keys, the current one first. Never empty. */
export type Keyring = readonly [MasterKey, ...MasterKey[]];

function masterKey(bytes: Buffer): MasterKey {
  const digest = nodeCrypto().createHmac('sha256', bytes).update('runner/kid/v1').digest('hex');
  return { bytes, kid: `m_${digest.slice(0, 8)}` };
}

/**
 * Reads the master keys; undefined without a key file. Throws `mkey_exposed` if others may read the
 * file, `mkey_malformed`, `file_unreadable`, `guard_tripped`.
 */
export function readKeyring(paths: Paths, env: Env): Keyring | undefined {
  const path = mkeyFile(paths, env);
  const isOwn = path !== credentialFile(env);
  const text = (
    isOwn ? readTrusted(path, KEY_FILE_MAX, paths.root) : readIfThere(path, KEY_FILE_MAX)
  )?.toString('utf8');
  if (text === undefined) return undefined;
  if (isKeyExposed(path, env)) {
    throw new Failure(
      'mkey_exposed',
      `others may read the master key: run chmod 600 ${word(path)}`,
    );
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
          `${path} does not contain 32-byte keys in base64url, one per line`,
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

/** Makes the first master key, under the registry's lock; only while no sealed value exists. */
export function createKeyring(paths: Paths, env: Env): Keyring {
  const path = mkeyFile(paths, env);
  makeFolder(dirname(path));
  writeWhole(path, `${newKeyLine()}\n`);
  return requireKeyring(paths, env);
}

/**
 * Throws `not_writable` unless the key file can be replaced. systemd's credential cannot: it is a copy,
 * so a new key in it would be lost.
 */
export function requireChangeableKeys(paths: Paths, env: Env): void {
  const path = mkeyFile(paths, env);
  if (path === credentialFile(env)) {
    throw new Failure(
      'not_writable',
      `the master key in ${path} is a copy that systemd made: unset CREDENTIALS_DIRECTORY and set RUNNER_MKEY_FILE to the original file`,
    );
  }
  // Root could write to it anyway, but a write-protected key is meant to stay.
  if (isThere(path) && (lstatSync(path).mode & 0o200) === 0) {
    throw new Failure(
      'not_writable',
      `the master key is write-protected: to replace it, run chmod 600 ${word(path)}`,
    );
  }
  orFail(() => accessSync(dirname(path), constants.W_OK), `replace the master key in ${path}`);
}

/** Adds a new current master key; the older ones still open what they sealed. */
export function addMasterKey(paths: Paths, env: Env): Keyring {
  const lines = [newKeyLine(), ...requireKeyring(paths, env).map(lineOfKey)];
  replaceKeys(paths, env, lines);
  return requireKeyring(paths, env);
}

/** Drops all master keys except the current one; returns their number. */
export function dropOldKeys(paths: Paths, env: Env): number {
  const [current, ...older] = requireKeyring(paths, env);
  if (older.length > 0) replaceKeys(paths, env, [lineOfKey(current)]);
  return older.length;
}

/** Writes the keys under the registry's lock, and removes copies left by killed commands. */
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
  return nodeCrypto().randomBytes(KEY_BYTES).toString('base64url');
}

function lineOfKey({ bytes }: MasterKey): string {
  return bytes.toString('base64url');
}

/** Decodes base64url; undefined unless it is a text, canonical and has the length. */
export function decode(text: unknown, length?: number): Buffer | undefined {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // Node skips foreign characters, accepts base64 as well and ignores spare bits.
  const isCanonical = bytes.toString('base64url') === text;
  return isCanonical && (length === undefined || bytes.length === length) ? bytes : undefined;
}
