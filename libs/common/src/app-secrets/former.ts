/** Values that secrets had before, sealed as ever: they are redacted where a log still has them. */
import { unlessFailure } from '../foundation/attempt.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Keyring } from '../tokens/keyring.ts';
import { open, seal } from '../tokens/vault.ts';
import { fieldOf, type SealedSecret, type SecretsFile } from './file.ts';
import { partsOf } from './open.ts';

/** Values that are kept of one secret, and of all secrets of an app; the oldest go first. */
const [OF_ONE, OF_ALL] = [5, 100];

type SecretPlace = Pick<SealedSecret, 'name' | 'instance'>;

export const isSamePlace = (one: SecretPlace, other: SecretPlace) =>
  one.name === other.name && one.instance === other.instance;

/**
 * The former values once `gone` are no longer set and `set` are, newest first. What cannot be opened is kept;
 * what would not be redacted is not.
 */
export function withFormer(
  file: SecretsFile,
  keyring: Keyring | undefined,
  gone: readonly SealedSecret[],
  set: readonly (SecretPlace & { readonly value: Secret })[] = [],
): SealedSecret[] {
  const kept: { entry: SealedSecret; value: string | undefined }[] = [];
  for (const entry of [...gone, ...(file.former ?? [])]) {
    const value = keyring && openedOf(file, keyring, entry)?.reveal();
    const own = kept.filter((each) => isSamePlace(each.entry, entry));
    const isKnown =
      value !== undefined &&
      (partsOf(value).length === 0 ||
        own.some((each) => each.value === value) ||
        set.some((each) => isSamePlace(each, entry) && each.value.reveal() === value));
    if (!entry.plain && !isKnown && own.length < OF_ONE) kept.push({ entry, value });
  }
  return kept.slice(0, OF_ALL).map(({ entry }) => entry);
}

/** The former values, sealed with the current key. */
export function formerAgain(file: SecretsFile, keyring: Keyring): SealedSecret[] {
  return (file.former ?? []).map((entry) => {
    const value = openedOf(file, keyring, entry);
    return value
      ? { ...entry, sealed: seal(value, file.app, keyring, { field: fieldOf(entry) }) }
      : entry;
  });
}

function openedOf({ app }: SecretsFile, keyring: Keyring, entry: SealedSecret): Secret | undefined {
  return unlessFailure(() => open(entry.sealed, app, keyring, fieldOf(entry)), undefined);
}
