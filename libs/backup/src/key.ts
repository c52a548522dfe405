/** Reads the passphrase or key that the options name. */
import { readGiven } from '@runner/common/files/read';
import { usage } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { askSecret, canAsk } from '@runner/common/tokens/prompt';

/** A passphrase, age recipients, or an age identity. */
export type Key =
  | { readonly passphrase: string }
  | { readonly recipients: readonly string[] }
  | { readonly identity: string };

/** Bytes; a larger file is the wrong one. */
const FILE_MAX = 65_536;
const PASSPHRASE_MIN = 12;
const QUESTION = 'Passphrase of the backup';

/** The key of a new backup. Throws `usage`, `file_unreadable`. */
export function sealingKey(
  io: Io,
  recipient: string | undefined,
  passphraseFile: string | undefined,
): Key {
  if (recipient !== undefined) return { recipients: recipient.split(',') };
  const passphrase =
    passphraseFile === undefined ? askPassphrase(io) : passphraseOf(io, passphraseFile);
  if (passphrase.length < PASSPHRASE_MIN)
    throw usage(`the passphrase needs at least ${PASSPHRASE_MIN} characters`);
  if (passphraseFile === undefined && askSecret(io, 'The same again') !== passphrase)
    throw usage('the two passphrases differ');
  return { passphrase };
}

/** The key of an existing backup. Throws `usage`, `file_unreadable`. */
export function openingKey(
  io: Io,
  identityFile: string | undefined,
  passphraseFile: string | undefined,
): Key {
  if (identityFile !== undefined) {
    const lines = readGiven(io, identityFile, FILE_MAX, 'standard input').split('\n');
    return { identity: lines.find((line) => line.startsWith('AGE-SECRET-KEY-'))?.trim() ?? '' };
  }
  if (passphraseFile !== undefined) return { passphrase: passphraseOf(io, passphraseFile) };
  return { passphrase: askPassphrase(io) };
}

function askPassphrase(io: Io): string {
  if (!canAsk(io)) throw usage('stdin is not a terminal: use --passphrase-file, or an age key');
  return askSecret(io, QUESTION);
}

function passphraseOf(io: Io, file: string): string {
  return readGiven(io, file, FILE_MAX, 'standard input').replace(/\r?\n$/, '');
}
