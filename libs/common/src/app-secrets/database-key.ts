/** The key of the backups of an app's database: an age identity, sealed in the file of its secrets. */
import { changeRegistry } from '../apps/change.ts';
import type { Server } from '../foundation/paths.ts';
import type { Secret } from '../secrets/secret.ts';
import { sealingKeys } from '../tokens/borrow.ts';
import { type Keyring, requireKeyring } from '../tokens/keyring.ts';
import { keyIdOf, open, type SealedField, seal } from '../tokens/vault.ts';
import { emptyFile, readSecrets, type SecretsFile, writeSecrets } from './file.ts';

const FIELD: SealedField = {
  name: 'database_key',
  words: "the key of the database's backups",
  corrupt: 'secret_corrupt',
  foreign: 'secret_wrong_app',
};

/** undefined without one. Throws what opening a secret throws. */
export function openDatabaseKey({ io, paths }: Server, app: string): Secret | undefined {
  const sealed = readSecrets(paths, app)?.database_key;
  return sealed === undefined ? undefined : open(sealed, app, requireKeyring(paths, io.env), FIELD);
}

/** Keeps a new key, unless there is one; returns the one that is kept. */
export function keepDatabaseKey({ io, paths }: Server, app: string, made: Secret): Secret {
  return changeRegistry({ io, paths, command: 'env' }, () => {
    const known = openDatabaseKey({ io, paths }, app);
    if (known) return known;
    const file = readSecrets(paths, app) ?? emptyFile(app);
    const database_key = seal(made, app, sealingKeys(io, paths), { field: FIELD });
    writeSecrets(paths, { ...file, database_key }, io.now());
    return made;
  });
}

/** The key of a file, sealed with the current master key. */
export function databaseKeyAgain(
  { app, database_key: sealed }: SecretsFile,
  keyring: Keyring,
): Pick<SecretsFile, 'database_key'> {
  if (sealed === undefined) return {};
  const value = open(sealed, app, keyring, FIELD);
  const isNow = keyIdOf(sealed) === keyring[0].kid;
  return { database_key: isNow ? sealed : seal(value, app, keyring, { field: FIELD }) };
}
