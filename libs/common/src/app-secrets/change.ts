/** Changes the secrets of an app, under the registry's lock. */
import { changeRegistry } from '../apps/change.ts';
import { requireApp, writeApp } from '../apps/store.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Server } from '../foundation/paths.ts';
import { initiatorOf } from '../foundation/user.ts';
import type { Secret } from '../secrets/secret.ts';
import { sealingKeys } from '../tokens/borrow.ts';
import { requireKeyring } from '../tokens/keyring.ts';
import { keyIdOf, open, seal } from '../tokens/vault.ts';
import { databaseKeyAgain } from './database-key.ts';
import {
  emptyFile,
  fieldOf,
  readSecrets,
  type SealedSecret,
  type SecretsFile,
  type StartedWith,
  writeSecrets,
} from './file.ts';
import { formerAgain, isSamePlace, withFormer } from './former.ts';
import type { AppSecret, AppSecrets } from './open.ts';

/** A variable to set. */
export interface NewSecret {
  readonly name: string;
  /** `*`, or an instance. */
  readonly instance: string;
  readonly value: Secret;
  /** Not to be redacted. */
  readonly plain: boolean;
}

/** Bytes of all values of one app: the kernel limits an environment to 2 MiB. */
const TOTAL_MAX = 1_048_576;

/** Sets variables, all or none. Throws `usage` if they are too much for an environment. */
export function setSecrets({ io, paths }: Server, name: string, added: readonly NewSecret[]): void {
  changeRegistry({ io, paths, command: 'env' }, () => {
    const app = requireApp(paths, name);
    const file = readSecrets(paths, name) ?? emptyFile(name);
    const keyring = sealingKeys(io, paths);
    const now = io.now();
    const entries = added.map(({ name: variable, instance, value, plain }): SealedSecret => {
      const place = { name: variable, instance };
      const sealed = seal(value, name, keyring, { field: fieldOf(place) });
      const changed = { changed_at: now.toISOString(), changed_by: initiatorOf(io, 'manual') };
      return { ...place, sealed, ...changed, ...(plain && { plain }) };
    });
    const isReplaced = (old: SealedSecret) => entries.some((each) => isSamePlace(each, old));
    const secrets = [...file.secrets.filter((old) => !isReplaced(old)), ...entries];
    const former = withFormer(file, keyring, file.secrets.filter(isReplaced), added);
    checkSize(secrets);
    // First: 0.1.0 refuses the state, and so never starts the app without its secrets.
    if (app.version !== 2) writeApp(paths, { ...app, version: 2, updated_at: now.toISOString() });
    writeSecrets(paths, { ...file, secrets: secrets.sort(byName), former }, now);
  });
}

const byName = (a: SealedSecret, b: SealedSecret) =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : a.instance < b.instance ? -1 : 1;

/** By the sealed values, which are a third longer. */
function checkSize(secrets: readonly SealedSecret[]): void {
  const bytes = secrets.reduce((sum, { sealed }) => sum + (sealed.length * 3) / 4, 0);
  if (bytes > TOTAL_MAX)
    throw new Failure('usage', 'the secrets of an app are limited to 1 MiB in total');
}

/** Removes variables, all or none. Throws `secret_not_found`. */
export function unsetSecrets(
  { io, paths }: Server,
  name: string,
  variables: readonly string[],
  instance: string,
): void {
  changeRegistry({ io, paths, command: 'env' }, () => {
    requireApp(paths, name);
    const file = readSecrets(paths, name);
    const isSet = (variable: string) =>
      file?.secrets.some((each) => isSamePlace(each, { name: variable, instance }));
    const missing = variables.find((variable) => !isSet(variable));
    if (!file || missing !== undefined)
      throw new Failure(
        'secret_not_found',
        `'${name}' has no secret ${missing}${instance === '*' ? '' : ` for the instance ${instance}`}; see: runner env list ${name}`,
      );
    const stays = (each: SealedSecret) =>
      !variables.some((variable) => isSamePlace(each, { name: variable, instance }));
    // A lost key must not keep a secret set.
    const keyring = unlessFailure(() => requireKeyring(paths, io.env), undefined);
    const former = withFormer(
      file,
      keyring,
      file.secrets.filter((each) => !stays(each)),
    );
    writeSecrets(paths, { ...file, secrets: file.secrets.filter(stays), former }, io.now());
  });
}

/** Notes what each of these instances is about to be started with. */
export function noteStarting(
  { io, paths }: Server,
  app: string,
  instances: readonly string[],
  secrets: AppSecrets,
): void {
  changeFile({ io, paths }, app, (file) => {
    // Sealed again: the keys may have changed since they were opened.
    const keyring = requireKeyring(paths, io.env);
    const sealAgain = ({ value, ...rest }: AppSecret): SealedSecret => ({
      ...rest,
      sealed: seal(value, app, keyring, { field: fieldOf(rest) }),
    });
    const starting = instances.map((instance) => ({
      instance,
      secrets: secrets.today(instance).map(sealAgain),
    }));
    return { ...file, starting };
  });
}

/** What was noted runs from now on; other instances keep theirs. */
export function noteStarted({ io, paths }: Server, app: string): void {
  changeFile({ io, paths }, app, (file) => {
    const isNew = ({ instance }: StartedWith) =>
      file.starting.some((each) => each.instance === instance);
    const kept = file.started.filter((each) => !isNew(each));
    const started = [...kept, ...file.starting].filter(({ secrets }) => secrets.length > 0);
    return { ...file, started, starting: [] };
  });
}

function changeFile(
  { io, paths }: Server,
  app: string,
  change: (file: SecretsFile) => SecretsFile,
): void {
  if (!readSecrets(paths, app)) return;
  changeRegistry({ io, paths, command: 'env' }, () => {
    const file = readSecrets(paths, app);
    if (file) writeSecrets(paths, change(file), io.now());
  });
}

/** Re-seals all secrets of an app with the current key, under the registry's lock; their number. */
export function resealSecrets({ io, paths }: Server, app: string): number {
  const file = readSecrets(paths, app);
  if (!file) return 0;
  const keyring = requireKeyring(paths, io.env);
  let count = 0;
  const done = new Map<string, string>();
  const reseal = (entry: SealedSecret): SealedSecret => {
    const field = fieldOf(entry);
    const value = open(entry.sealed, app, keyring, field);
    if (keyIdOf(entry.sealed) === keyring[0].kid) return entry;
    count += done.has(entry.sealed) ? 0 : 1;
    const sealed = done.get(entry.sealed) ?? seal(value, app, keyring, { field });
    done.set(entry.sealed, sealed);
    return { ...entry, sealed };
  };
  const resealAll = (list: readonly StartedWith[]) =>
    list.map((each) => ({ ...each, secrets: each.secrets.map(reseal) }));
  const key = databaseKeyAgain(file, keyring);
  const resealed = {
    ...file,
    ...key,
    secrets: file.secrets.map(reseal),
    started: resealAll(file.started),
    starting: resealAll(file.starting),
    ...(file.former && { former: formerAgain(file, keyring) }),
  };
  const hasFormer = (file.former ?? []).some(({ sealed }) => keyIdOf(sealed) !== keyring[0].kid);
  if (count > 0 || hasFormer || key.database_key !== file.database_key)
    writeSecrets(paths, resealed, io.now());
  return count;
}
