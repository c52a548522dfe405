/** Encryption in the format of age: https://age-encryption.org/v1. */
import { Failure, usage } from '@runner/common/foundation/failure';
import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import type { Key } from './key.ts';
import { unreadable } from './tar.ts';

export const newIdentity = (): Promise<string> => generateIdentity();

/** Encrypts a stream for the holder of an identity. */
export async function encryptedFor(
  bytes: AsyncIterable<Uint8Array>,
  identity: string,
): Promise<AsyncIterable<Uint8Array>> {
  return encrypted(bytes, { recipients: [await identityToRecipient(identity)] });
}

/** Encrypts a stream. Throws `usage` if a recipient is invalid. */
export async function encrypted(
  bytes: AsyncIterable<Uint8Array>,
  key: Key,
): Promise<AsyncIterable<Uint8Array>> {
  const encrypter = new Encrypter();
  if ('passphrase' in key) encrypter.setPassphrase(key.passphrase);
  for (const recipient of 'recipients' in key ? key.recipients : []) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw usage(`'${recipient}' is not an age recipient: recipients begin with age1`);
    }
  }
  return encrypter.encrypt(ReadableStream.from(bytes));
}

/** Decrypts a stream; every chunk is authenticated before it is returned. Throws `backup_unreadable`. */
export async function* decrypted(
  bytes: AsyncIterable<Uint8Array>,
  key: Key,
): AsyncGenerator<Uint8Array> {
  const decrypter = new Decrypter();
  try {
    if ('passphrase' in key) decrypter.addPassphrase(key.passphrase);
    if ('identity' in key) decrypter.addIdentity(key.identity);
  } catch {
    throw unreadable('it is not an age identity: identities begin with AGE-SECRET-KEY-1');
  }
  let plain: AsyncIterable<Uint8Array>;
  try {
    plain = await decrypter.decrypt(ReadableStream.from(bytes));
  } catch (error) {
    if (error instanceof Failure) throw error;
    const isOther = /no identity matched/.test(String(error));
    const name = 'passphrase' in key ? 'passphrase' : 'identity';
    throw unreadable(isOther ? `the ${name} does not open it` : 'it is damaged, or not a backup');
  }
  try {
    yield* plain;
  } catch (error) {
    throw error instanceof Failure ? error : unreadable('it is damaged or cut short');
  }
}
