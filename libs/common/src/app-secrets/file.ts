/**
 * The secrets of an app, `secrets/<app>.json`: its variables, sealed, and those that each instance was
 * last started with, which an automatic rollback restores.
 */

import { makeFolder, readTextIfThere, removeIfThere } from '../files/read.ts';
import { sweepStrays, writeWhole } from '../files/write.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import type { SealedField } from '../tokens/vault.ts';

/** The scope of a secret that all instances get. */
export const ALL = '*';
/** The scope of a secret that only previews of the app get; not the name of an instance. */
export const PREVIEWS = '@previews';

/** One sealed variable. */
export interface SealedSecret {
  name: string;
  /** `*`, or the instance that gets it. */
  instance: string;
  sealed: string;
  changed_at: string;
  changed_by: string;
  /** Not redacted: the operator said that it is no secret. */
  plain?: true;
}

export interface StartedWith {
  instance: string;
  secrets: SealedSecret[];
}

/** The file. Unknown fields survive a rewrite. */
export interface SecretsFile {
  version: 1;
  app: string;
  /** Key of the fingerprints: without it a short value could be guessed from its fingerprint. */
  salt: string;
  secrets: SealedSecret[];
  started: StartedWith[];
  /** What a running deploy starts them with; becomes `started` when it succeeds. */
  starting: StartedWith[];
  /** Values that they had before, newest first: to be redacted in logs that still have them. */
  former?: SealedSecret[];
  /** The key of the backups of its database, sealed. */
  database_key?: string;
  [field: string]: unknown;
}

/** Bytes: a value may have 64 KiB, and each is kept up to three times for each instance. */
const FILE_MAX = 67_108_864;

export function emptyFile(app: string): SecretsFile {
  const { randomBytes } = process.getBuiltinModule('node:crypto');
  const salt = randomBytes(16).toString('base64url');
  return { version: 1, app, salt, secrets: [], started: [], starting: [] };
}

/** Reads the file of an app; undefined if it never had secrets. Throws `state_malformed`. */
export function readSecrets(paths: Paths, app: string): SecretsFile | undefined {
  const path = paths.secrets(app);
  const text = readTextIfThere(path, FILE_MAX);
  if (text === undefined) return undefined;
  const bad = (why: string) => new Failure('state_malformed', `the file ${path} ${why}`);
  let file: SecretsFile;
  try {
    file = JSON.parse(text) as SecretsFile;
  } catch {
    throw bad('is not JSON');
  }
  if (file?.version !== 1) throw bad('was written by a newer runner');
  if (file.app !== app) throw bad('belongs to another app');
  const isWhole =
    typeof file.salt === 'string' &&
    ['string', 'undefined'].includes(typeof file.database_key) &&
    isListOf(file.secrets, isSealed) &&
    isListOf(file.former ?? [], isSealed) &&
    isListOf(file.started, isStartedWith) &&
    isListOf(file.starting, isStartedWith);
  if (!isWhole) throw bad('has a malformed section');
  return file;
}

function isListOf(value: unknown, isOne: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

function isSealed(value: unknown): boolean {
  const entry = (value ?? {}) as Record<string, unknown>;
  return ['name', 'instance', 'sealed', 'changed_at', 'changed_by'].every(
    (field) => typeof entry[field] === 'string',
  );
}

function isStartedWith(value: unknown): boolean {
  const { instance, secrets } = (value ?? {}) as Record<string, unknown>;
  return typeof instance === 'string' && isListOf(secrets, isSealed);
}

/** Writes the file whole, under the registry's lock; an empty one is removed. */
export function writeSecrets(paths: Paths, file: SecretsFile, now: Date): void {
  makeFolder(paths.secretsDir, 0o700);
  sweepStrays(paths.secretsDir, now);
  const { secrets, started, starting, former = [] } = file;
  const isEmpty = [secrets, started, starting, former].every(({ length }) => length === 0);
  if (isEmpty && file.database_key === undefined) removeIfThere(paths.secrets(file.app));
  else writeWhole(paths.secrets(file.app), `${JSON.stringify(file, null, 2)}\n`);
}

/** Those that an instance gets: its own before those of all instances. */
export function secretsFor(secrets: readonly SealedSecret[], instance: string): SealedSecret[] {
  const own = secrets.filter((each) => each.instance === instance);
  const names = new Set(own.map(({ name }) => name));
  return [...secrets.filter((each) => each.instance === ALL && !names.has(each.name)), ...own];
}

/** All sealed values that are set, or that an instance was started with. */
export function sealedIn({ secrets, started, starting }: SecretsFile): string[] {
  const all = [secrets, ...[...started, ...starting].map((each) => each.secrets)].flat();
  return [...new Set(all.map(({ sealed }) => sealed))];
}

/** What the sealed value of a secret is bound to, in addition to its app. */
export function fieldOf({ name, instance }: Pick<SealedSecret, 'name' | 'instance'>): SealedField {
  return {
    name: `env/${instance}/${name}`,
    words: `the secret ${name}`,
    corrupt: 'secret_corrupt',
    foreign: 'secret_wrong_app',
  };
}
